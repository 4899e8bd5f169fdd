#!/bin/sh
# Installs the program capstan for Linux and macOS:
#
#	curl -fsSL URL/install.sh | sh
#	sh install.sh --version 0.1.0 --dir /usr/local/bin
#
# The script downloads the archive of the platform and checksums.txt, compares the
# SHA-256 and copies the program into the folder. It changes nothing else.
#
# CAPSTAN_DOWNLOADS replaces the address of the downloads, for a mirror.
set -eu

downloads=${CAPSTAN_DOWNLOADS:-https://github.com/seed61713e19/capstan/releases/download}
version=0.1.0
dir=${HOME:+$HOME/.local/bin}

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

usage() {
	cat <<END
usage: install.sh [--version VERSION] [--dir FOLDER]

  --version  the version to install (default: $version)
  --dir      the folder for the program (default: ~/.local/bin)
END
}

fetch() { # URL FILE
	if command -v curl >/dev/null 2>&1; then
		curl -fsSL --retry 3 -o "$2" "$1"
	elif command -v wget >/dev/null 2>&1; then
		wget -q -O "$2" "$1"
	else
		fail "neither curl nor wget is installed"
	fi || fail "cannot download $1"
}

sha256() { # FILE
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum "$1"
	elif command -v shasum >/dev/null 2>&1; then
		shasum -a 256 "$1"
	else
		fail "neither sha256sum nor shasum is installed"
	fi | cut -d ' ' -f 1
}

platform() {
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no build for $(uname -s); on Windows, use npm or the .zip archive" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no build for $(uname -m)" ;;
	esac
}

# The script is a function, so that a broken download of it runs nothing.
main() {
	while [ $# -gt 0 ]; do
		case $1 in
		--version | --dir)
			[ $# -gt 1 ] || fail "$1 needs a value"
			if [ "$1" = --dir ]; then dir=$2; else version=${2#v}; fi
			shift 2
			;;
		-h | --help) usage && exit ;;
		*) usage >&2 && exit 2 ;;
		esac
	done
	[ -n "$dir" ] || fail "HOME is not set: use --dir"
	case $version in *[!0-9A-Za-z.+-]* | '') fail "\"$version\" is not a version" ;; esac
	platform
	archive=capstan_${version}_${os}_${arch}.tar.gz
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM

	fetch "$downloads/v$version/checksums.txt" "$work/checksums.txt"
	want=$(awk -v file="$archive" '$2 == file { print $1 }' "$work/checksums.txt")
	[ -n "$want" ] || fail "checksums.txt of version $version does not list $archive"
	fetch "$downloads/v$version/$archive" "$work/$archive"
	got=$(sha256 "$work/$archive")
	[ "$got" = "$want" ] || fail "$archive has the SHA-256 $got, but checksums.txt has $want; nothing was installed"

	tar -xzf "$work/$archive" -C "$work" capstan
	mkdir -p "$dir"
	# A rename replaces a program that runs, too.
	cp "$work/capstan" "$dir/.capstan.$$"
	chmod 755 "$dir/.capstan.$$"
	mv -f "$dir/.capstan.$$" "$dir/capstan"
	echo "installed $dir/capstan: $("$dir/capstan" version)"
	case :${PATH:-}: in
	*:"$dir":*) ;;
	*) echo "$dir is not in PATH" ;;
	esac
}

main "$@"
