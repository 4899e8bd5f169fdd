// Package packaging_test tests the files with which people install Capstan.
// .ci/packages tries the packages themselves.
package packaging_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// release returns an archive whose program prints a version, and its line of checksums.txt.
func release(t *testing.T, name string) (archive []byte, sum string) {
	t.Helper()
	program := "#!/bin/sh\necho \"capstan v1.2.3 $1\"\n"
	var buf bytes.Buffer
	zipped := gzip.NewWriter(&buf)
	w := tar.NewWriter(zipped)
	if err := w.WriteHeader(&tar.Header{Name: "capstan", Mode: 0o755, Size: int64(len(program)), Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(program)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), fmt.Sprintf("%x  %s\n", sha256.Sum256(buf.Bytes()), name)
}

// uname returns a folder with a program uname that prints another system and machine.
func uname(t *testing.T, system, machine string) string {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf("#!/bin/sh\ncase $1 in -s) echo %s ;; -m) echo %s ;; esac\n", system, machine)
	if err := os.WriteFile(filepath.Join(dir, "uname"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestInstallScript(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is for Linux and macOS")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		if _, err := exec.LookPath("wget"); err != nil {
			t.Skip("there is neither curl nor wget")
		}
	}
	const file = "capstan_1.2.3_linux_arm64.tar.gz"
	archive, sum := release(t, file)
	for _, test := range []struct {
		name             string
		system, machine  string
		sums             string
		archive          []byte
		args             []string
		installed, wants string
	}{
		{"good archive", "Linux", "aarch64", sum, archive, []string{"--version", "1.2.3"}, ".local/bin/capstan",
			`installed .*: capstan v1\.2\.3 version`},
		{"tag for a version", "Linux", "arm64", sum, archive, []string{"--version", "v1.2.3"}, ".local/bin/capstan", `installed`},
		{"chosen folder", "Linux", "arm64", sum, archive, []string{"--dir", "a b/bin", "--version", "1.2.3"}, "a b/bin/capstan",
			`a b/bin is not in PATH`},
		{"other archive", "Linux", "arm64", sum, append([]byte("x"), archive...), []string{"--version", "1.2.3"}, "",
			`has the SHA-256 [0-9a-f]{64}, but checksums\.txt has [0-9a-f]{64}; nothing was installed`},
		{"truncated archive", "Linux", "arm64", sum, archive[:20], []string{"--version", "1.2.3"}, "", `nothing was installed`},
		{"checksum missing", "Linux", "arm64", strings.Replace(sum, "arm64", "amd64", 1), archive, []string{"--version", "1.2.3"}, "",
			`checksums\.txt of version 1\.2\.3 does not list ` + file},
		{"platform missing", "Darwin", "arm64", sum, archive, []string{"--version", "1.2.3"}, "", `does not list capstan_1\.2\.3_darwin_arm64`},
		{"unknown system", "Plan9", "arm64", sum, archive, []string{"--version", "1.2.3"}, "", `no build for Plan9`},
		{"unknown machine", "Linux", "riscv64", sum, archive, []string{"--version", "1.2.3"}, "", `no build for riscv64`},
		{"version missing", "Linux", "arm64", sum, archive, []string{"--version", "9.9.9"}, "", `cannot download .*/v9\.9\.9/checksums\.txt`},
		{"version with a path", "Linux", "arm64", sum, archive, []string{"--version", "../1.2.3"}, "", `is not a version`},
		{"unknown option", "Linux", "arm64", sum, archive, []string{"--prefix", "x"}, "", `usage:`},
		{"option without a value", "Linux", "arm64", sum, archive, []string{"--dir"}, "", `--dir needs a value`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := http.NewServeMux()
			files.HandleFunc("/v1.2.3/checksums.txt", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, test.sums) })
			files.HandleFunc("/v1.2.3/"+file, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(test.archive) })
			server := httptest.NewServer(files)
			defer server.Close()
			home := t.TempDir()
			script, err := filepath.Abs("install.sh")
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sh", append([]string{script}, test.args...)...)
			cmd.Dir = home
			cmd.Env = []string{
				"HOME=" + home, "CAPSTAN_DOWNLOADS=" + server.URL, "TMPDIR=" + t.TempDir(),
				"PATH=" + uname(t, test.system, test.machine) + ":" + os.Getenv("PATH"),
			}
			out, err := cmd.CombinedOutput()
			if (err == nil) != (test.installed != "") || !regexp.MustCompile(test.wants).Match(out) {
				t.Errorf("%v\n%s", err, out)
			}
			programs, err := filepath.Glob(filepath.Join(home, "*/*/*capstan*"))
			if err != nil {
				t.Fatal(err)
			}
			more, err := filepath.Glob(filepath.Join(home, ".local/bin/.*"))
			if err != nil {
				t.Fatal(err)
			}
			if programs = append(programs, more...); test.installed == "" && len(programs) > 0 {
				t.Errorf("installed %q", programs)
			}
			if test.installed != "" {
				if info, err := os.Stat(filepath.Join(home, test.installed)); err != nil || info.Mode().Perm() != 0o755 || len(more) > 0 {
					t.Errorf("%v, %v, %q", info, err, more)
				}
			}
		})
	}
}

// names reads names.yaml.
func names(t *testing.T) (names map[string]string) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, "names.yaml")), &names); err != nil {
		t.Fatal(err)
	}
	return names
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Some files cannot read names.yaml. They must agree with it.
func TestNames(t *testing.T) {
	n := names(t)
	repository := n["repository"]
	for file, wants := range map[string][]string{
		"../go.mod":  {"module " + strings.TrimPrefix(repository, "https://") + "\n"},
		"install.sh": {"version=" + n["version"] + "\n", "CAPSTAN_DOWNLOADS:-" + n["downloads"] + "}"},
		"Containerfile": {`image.source="` + repository + `"`,
			`image.licenses="` + n["license"] + `"`, `image.description="` + n["summary"] + `"`},
		"../.ci/goreleaser.yaml": {"homepage: " + repository + "\n", "license: " + n["license"] + "\n",
			"project_name: " + n["deb"] + "\n", n["summary"] + "\n"},
		"../CHANGELOG.md": {"## [" + n["version"] + "]"},
	} {
		text := read(t, file)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not contain %q of names.yaml", file, want)
			}
		}
	}
	if want := repository + "/releases/download"; n["downloads"] != want {
		t.Errorf("downloads is %s, not %s", n["downloads"], want)
	}
	if want := "@" + n["scope"] + "/"; !strings.HasPrefix(n["npm_platform"], want) {
		t.Errorf("npm_platform is %s, which does not begin with %s", n["npm_platform"], want)
	}
}

func TestFormula(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	dist := t.TempDir()
	var sums strings.Builder
	for i, platform := range []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64"} {
		fmt.Fprintf(&sums, "%064d  capstan_1.2.3_%s.tar.gz\n", i, platform)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dist, "checksums.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(sums.String())
	out, err := exec.Command("bash", "formula", dist).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n := names(t)
	for i, platform := range []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64"} {
		want := fmt.Sprintf("      url \"%s/v1.2.3/capstan_1.2.3_%s.tar.gz\"\n      sha256 \"%064d\"\n", n["downloads"], platform, i)
		if strings.Count(string(out), want) != 1 {
			t.Errorf("the formula does not contain once\n%s:\n%s", want, out)
		}
	}
	if !strings.Contains(string(out), `version "1.2.3"`) || strings.Contains(string(out), "windows") {
		t.Errorf("%s", out)
	}
	if _, err := exec.LookPath("ruby"); err == nil {
		check := exec.Command("ruby", "-wc")
		check.Stdin = bytes.NewReader(out)
		if output, err := check.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, output)
		}
	}
	write(strings.Replace(sums.String(), "darwin_arm64", "darwin_x", 1))
	out, err = exec.Command("bash", "formula", dist).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no archive for darwin/arm64") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The image must contain the program alone, and must not run as root.
func TestContainerfile(t *testing.T) {
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(read(t, "Containerfile"), "\\\n", " ")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
	}
	text := strings.Join(lines, "\n") + "\n"
	for _, want := range []string{
		"^ARG BASE=gcr\\.io/distroless/static-debian[0-9]+:nonroot\nFROM \\$\\{BASE\\}\n", "\nUSER [1-9][0-9]*:[1-9][0-9]*\n",
		"\nCOPY capstan /usr/local/bin/capstan\n", "\nENTRYPOINT \\[\"/usr/local/bin/capstan\"\\]\n$",
		`org\.opencontainers\.image\.version="\$\{VERSION\}"`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("the file does not match %q:\n%s", want, text)
		}
	}
	for _, instruction := range []string{"RUN ", "ADD ", "EXPOSE ", "USER 0", "USER root"} {
		if strings.Contains("\n"+text, "\n"+instruction) {
			t.Errorf("the file has %s:\n%s", instruction, text)
		}
	}
}
