#!/usr/bin/env python3
"""Measure how idiomatic the project's English is: docs, doc comments, messages, help texts, identifiers, commit subjects.

usage: prose.py [REPO] [--binary CAPSTAN] [--list KIND] [--changed REV] [--since REV] [--check]
  REPO           the checkout (default: .)
  --binary       also measure the help texts of this program, sub-commands included
  --list KIND    print the worst sentences of docs, comments, messages or help (with file and line)
  --changed REV  only sentences on lines added since REV: read the list and rewrite; the percentages mean little under 200 sentences
  --since REV    only commits after REV count for the commit figures
  --check        compare the figures of help, pages and messages with LIMITS; needs --binary

Figures per kind of text (anchors: actionlint and Dagu docs, gh help, Go's standard library):
  unseen   share of triples of function words that are not in prose-reference.txt, which was made from the sources of Go and about
           14,000 files of well-known Go modules (anchors 7-14 %)
  long     share of sentences over 30 words (anchors 1-4 %)
  clause   share of sentences that begin with What/Who/Of/That or use "what is/has ..." as a noun (anchors under 1 %)
  told     "told/tells/tell" per 1,000 words (anchors under 0.3)
"""
import argparse, collections, os, re, subprocess, sys

FW = set('''the a an of to in on at by for from with without within into onto over under behind before after between among
beside against about as than that which who whom whose what whatever whoever where when while if unless until whether because so
such it its itself they them their themselves he she his her we us our you your one ones other others another each every any all
both no none nothing nobody some somebody something more most less least few fewer many much only also too not nor or and but else
either neither is are was were be been being has have had do does did done can cannot could may might must shall should will would
there here then now again still yet already ever never once alone up down out off away back through same own very'''.split())

def words(s):
    s = re.sub(r'`[^`]*`|\[[^\]]*\]\([^)]*\)', lambda m: ' CODE ' if m.group(0)[0] == '`' else ' ' + m.group(0)[1:m.group(0).index(']')] + ' ', s)
    s = re.sub(r'--?[a-z][\w-]*|%\S+|[\[\]]', ' ', s)
    return [w if w == 'CODE' else w.lower() for w in re.findall(r"[A-Za-z]+(?:'[a-z]+)?|[.;:,]", s)]

def split(text):
    return [x.strip() for x in re.split(r'(?<=[.!?])\s+(?=[A-Z`*\[(])', text) if len(x.split()) >= 5]

def comments(path):
    """Yield (line, paragraph) of each // comment block."""
    block, first = [], 0
    for n, l in enumerate(open(path, encoding='utf8', errors='replace'), 1):
        m = re.match(r'^\s*//( |$)(.*)', l)
        if m and m.group(2).strip() and not m.group(2).startswith(('\t', '  ')):
            first = first or n
            block.append(m.group(2).strip())
        else:
            if block: yield first, ' '.join(block)
            block, first = [], 0
    if block: yield first, ' '.join(block)

def markdown(path):
    text = open(path, encoding='utf8', errors='replace').read()
    text = re.sub(r'```.*?```', lambda m: '\n' * m.group(0).count('\n'), text, flags=re.S)
    text = re.sub(r'\[·\]\([^)]*\)', '', text)
    block, first = [], 0
    for n, l in enumerate(text.split('\n') + [''], 1):
        s = l.strip()
        new = not s or s[0] in '#|>' or re.match(r'([-*]|\d+\.) ', s)
        if new and block:
            yield first, ' '.join(block)
            block, first = [], 0
        if s.startswith('|') and not re.match(r'^[|:\- ]+$', s):
            for cell in s.strip('|').split('|'):
                if len(cell.split()) >= 5: yield n, cell.strip()
        elif s and s[0] not in '#|>':
            first = first or n
            block.append(re.sub(r'^([-*]|\d+\.) ', '', s))

def reference():
    seen = set()
    for line in open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'prose-reference.txt'), encoding='utf8'):
        head, tail = line.rstrip('\n').split(': ')
        a, b = head.split(' ')
        seen.update((a, b, c) for c in tail.split(' '))
    return seen

def added(rev):
    """Return the lines added since rev: {file: {line numbers}}."""
    lines, file = collections.defaultdict(set), None
    for l in subprocess.check_output(['git', 'diff', '-U0', rev, '--'], text=True, errors='replace').split('\n'):
        if l.startswith('+++ '): file = l[6:]
        m = re.match(r'@@ -\S+ \+(\d+)(?:,(\d+))? @@', l)
        if m: lines[file].update(range(int(m.group(1)), int(m.group(1)) + int(m.group(2) or 1)))
    return lines

def helps(binary, path=()):
    """Yield (command, help text) of a command and, recursively, of its sub-commands."""
    text = subprocess.run([binary, *path, '--help'], capture_output=True, text=True).stdout
    yield ' '.join(path), text
    if len(path) < 3:
        for verb in re.findall(r'^  ([a-z][a-z-]+) {2,}\S', text.split('\nFlags:')[0], re.M):
            if verb not in ('help', 'completion') and 'Usage:' in text: yield from helps(binary, (*path, verb))

MESSAGE = re.compile(r'(?:Errorf|Error|New|Fail|Pass|Sprintf|Fprintf|Fprintln|Println|Printf|Warn|Info)\((?:[^"`\n]*?)"((?:[^"\\\n]|\\.){20,})"')

CLAUSE = re.compile(r"^(What|Who|Of|That|Whoever|Those)\b(?![^.]*\?)|\bwhat (is|are|was|has|have|had|the|a|an|it|they|comes|came|stands|follows)\b")
TOLD = re.compile(r'\b(told|tells?|telling)\b', re.I)

# The figures that --check allows at most.
LIMITS = {'help and pages': (15, 4, 1, 0.3), 'messages': (30, None, None, None)}

def pages(files, keep=lambda file, line: True):
    """Return (place, sentence) of the Markdown files among files."""
    files = [f for f in files if f.endswith('.md') and '/testdata/' not in f and 'prompts/' not in f]
    return [(f'{f}:{n}', s) for f in files for n, p in markdown(f) if keep(f, n) for s in split(p)]

def messages_of(files, keep=lambda file, line: True):
    """Return (place, text) of the messages in the Go files among files."""
    found = []
    for f in files:
        if not f.endswith('.go') or '/testdata/' in f or f.endswith('_test.go'): continue
        for n, l in enumerate(open(f, encoding='utf8', errors='replace'), 1):
            if keep(f, n) and not l.lstrip().startswith('//'):
                found += [(f'{f}:{n}', m) for m in MESSAGE.findall(l) if len(m.split()) >= 5]
    return found

def help_of(binary):
    """Return (command, sentence) of the help texts of a program."""
    found = []
    for name, t in helps(binary):
        for p in re.split(r'\n\s*\n', t.split('\nUsage:')[0]): found += [(f'{name} --help', s) for s in split(' '.join(p.split()))]
        found += [(f'{name} --help', m.strip()) for m in re.findall(r'^ +(?:-\w, )?--[\w-]+(?: \w+)? {2,}(.*)$', t, re.M) if len(m.split()) >= 4]
    return found

SKIPPED = {'docs/reference/cli.md',  # made from the help texts, which count once
           'cascades/examples/edit_source.md', 'cascades/examples/edit_candidate.md'}  # sample inputs

def check(files, binary, seen):
    """Print what exceeds the limits, and return whether anything does."""
    wrong = []
    for name, sents in (('help and pages', help_of(binary) + pages([f for f in files if f not in SKIPPED])), ('messages', messages_of(files))):
        for what, is_, limit in zip(('unseen', 'long', 'clause', 'told'), figures(name, sents, seen, None), LIMITS[name]):
            if limit is not None and is_ > limit: wrong.append(f'{name}: {what} is {is_:.2f}, the maximum is {limit}')
    print(*wrong, sep='\n', end='\n' if wrong else '')
    if wrong: print('the worst sentences: .ci/prose/prose.py --list docs (messages, help)')
    return bool(wrong)

def figures(name, sents, seen, listing):
    bad = all3 = long = clause = told = total = 0
    worst = []
    for where, s in sents:
        t = ['<s>'] + words(s)
        n = sum(w.isalpha() or "'" in w for w in t)
        total += n
        u = [' '.join(t[i:i + 3]) for i in range(len(t) - 2) if all(w in FW for w in t[i:i + 3])]
        m = [g for g in u if tuple(g.split(' ')) not in seen]
        all3 += len(u); bad += len(m)
        l, c, k = n > 30, bool(CLAUSE.search(s)), len(TOLD.findall(s))
        long += l; clause += c; told += k
        worst.append((2 * len(m) + l + c + k, where, s, m))
    k = max(1, len(sents))
    print(f'{name:14s} {len(sents):6d} sentences  unseen {100*bad/max(1,all3):5.1f} %  long {100*long/k:5.1f} %  clause {100*clause/k:5.1f} %  told {1000*told/max(1,total):5.2f}')
    if listing == name:
        for score, where, s, m in sorted(worst, reverse=True)[:60]:
            print(f'  {where}: {s}' + (f'   <{"; ".join(m)}>' if m else ''))
    return 100 * bad / max(1, all3), 100 * long / k, 100 * clause / k, 1000 * told / max(1, total)

def main():
    a = argparse.ArgumentParser()
    a.add_argument('repo', nargs='?', default='.')
    for flag in ('--binary', '--list', '--since', '--changed'): a.add_argument(flag)
    a.add_argument('--check', action='store_true')
    o = a.parse_args(); os.chdir(o.repo)
    files = [f for f in subprocess.check_output(['git', 'ls-files'], text=True).split('\n') if os.path.exists(f)]
    seen, only = reference(), added(o.changed) if o.changed else None
    if o.check: sys.exit(check(files, o.binary, seen))
    keep = lambda f, n: only is None or any(k in only[f] for k in range(n, n + 12))
    go = [f for f in files if f.endswith('.go') and '/testdata/' not in f]
    code = [(f'{f}:{n}', s) for f in go for n, p in comments(f) if keep(f, n) for s in split(p)]
    figures('docs', pages(files, keep), seen, o.list)
    figures('comments', code, seen, o.list)
    figures('messages', messages_of(files, keep), seen, o.list)
    if o.binary: figures('help', help_of(o.binary), seen, o.list)
    if only is None:
        names = collections.Counter()
        for f in go:
            for m in re.finditer(r'\b(told|said|came|gone|gave|heard|kept|owed|why|whose|hers|ours)\b(?=\s*(?:,|:=|\s[\[\]\w.*]+\s*(?:=|$)))', open(f, encoding='utf8', errors='replace').read(), re.M): names[m.group(1)] += 1
        print('identifiers told, said, came, gone, gave, heard, kept, owed, why, whose, hers, ours:', sum(names.values()))
    log = subprocess.check_output(['git', 'log', '--no-merges', '--format=%s'] + ([f'{o.since or o.changed}..HEAD'] if o.since or o.changed else []), text=True).strip().split('\n')
    n = sorted(map(len, log))
    print(f'commits    {len(log)}: subject median {n[len(n)//2]}, over 72: {100*sum(x > 72 for x in n)/len(n):.0f} %')

if __name__ == '__main__': main()
