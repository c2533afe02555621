#!/usr/bin/env python3
"""Measures the answers of `cru why` against a history whose truth is known.

Two clones, people and sessions of an agent: they edit the same files, commit their own and each other's text, pull, rebase each
other's commits, copy and write again lines that are there, and write lines that are alike. Every line of every file is then asked,
and the answer compared with who wrote it. Transcripts are those that Claude Code writes.

    why_truth.py CRU [SEED [ROUNDS]]

Prints how many answers are right, false, without a step, and not told; exits with 1 where more than 0.2 % are false.
"""
import collections, json, os, random, re, subprocess, sys, tempfile

CRU = os.path.abspath(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 60
ROOT = tempfile.mkdtemp(prefix="why-truth-")
HOME, VAULT = f"{ROOT}/home", f"{ROOT}/vault"
CLONES = [f"{HOME}/one/app", f"{HOME}/two/app"]
rng = random.Random(SEED)
clock = 1_763_000_000
counter = 0
# Who wrote a line into a file in a commit: commit subject → file → text → names.
introduced = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(set)))
# What is in no commit yet: clone → file → text → names.
pending = [collections.defaultdict(lambda: collections.defaultdict(set)) for _ in CLONES]
COMMON = ["    return None", "    pass", "", "}", "import os", "    x = 1", "    # ok", "else:"]


def env():
    stamp = f"{clock} +0000"
    base = {k: v for k, v in os.environ.items() if not k.startswith(("CRU", "XDG", "GIT", "CLAUDE"))}
    base.update(HOME=HOME, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", CRU_VAULT=VAULT, NO_COLOR="1")
    for role in ("AUTHOR", "COMMITTER"):
        base.update({f"GIT_{role}_NAME": "Ann", f"GIT_{role}_EMAIL": "ann@example.org"})
    base["GIT_COMMITTER_DATE"] = stamp
    return base


def git(clone, *args, ok=True, author=True):
    world = env()
    if author:
        world["GIT_AUTHOR_DATE"] = world["GIT_COMMITTER_DATE"]
    done = subprocess.run(["git", "-C", clone, *args], env=world, capture_output=True, text=True)
    if ok and done.returncode:
        raise SystemExit(f"git {args}: {done.stderr}")
    return done


def stamp():
    import datetime
    return datetime.datetime.fromtimestamp(clock, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


class Person:
    """Somebody who leaves no record."""
    name = None

    def __init__(self, clone):
        self.clone = clone

    def say(self, words): pass
    def edited(self, path, old, new): pass
    def ran(self, command, output, failed=False): pass
    def end(self): pass


class Session(Person):
    """A session of an agent, with its transcript."""

    def __init__(self, clone, number):
        super().__init__(clone)
        self.name = f"5e55a000-0000-4000-8000-{number:012x}"
        self.lines, self.calls = [], 0

    def line(self, kind, message, **more):
        uuid = f"{len(self.lines):08x}-{self.name[9:]}"
        parent = f"{len(self.lines) - 1:08x}-{self.name[9:]}" if self.lines else None
        self.lines.append(json.dumps({
            "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": CLONES[self.clone],
            "sessionId": self.name, "version": "2.1.40", "gitBranch": "main", "type": kind, "message": message,
            "uuid": uuid, "timestamp": stamp(), **more}))

    def say(self, words):
        self.line("user", {"role": "user", "content": words})

    def call(self, tool, given, words, result, failed=False):
        self.calls += 1
        name = f"toolu_{self.name[-4:]}{self.calls:06d}"
        self.line("assistant", {
            "id": f"msg_{name}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
            "content": [{"type": "tool_use", "id": name, "name": tool, "input": given}],
            "usage": {"input_tokens": 9, "output_tokens": 5}})
        block = {"type": "tool_result", "tool_use_id": name, "content": words}
        if failed:
            block["is_error"] = True
        return lambda: self.line("user", {"role": "user", "content": [block]}, toolUseResult=result)

    def edited(self, path, old, new):
        import difflib
        hunks = []
        for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
            lines = []
            for tag, a, b, c, d in group:
                if tag == "equal":
                    lines += [" " + it for it in old[a:b]]
                else:
                    lines += ["-" + it for it in old[a:b]] + ["+" + it for it in new[c:d]]
            first, last = group[0], group[-1]
            hunks.append({"oldStart": first[1] + 1, "oldLines": last[2] - first[1], "newStart": first[3] + 1,
                          "newLines": last[4] - first[3], "lines": lines})
        whole = f"{CLONES[self.clone]}/{path}"
        self.call("Edit", {"file_path": whole, "old_string": "…", "new_string": "…"},
                  f"The file {whole} has been updated.",
                  {"filePath": whole, "oldString": "…", "newString": "…", "originalFile": None,
                   "structuredPatch": hunks, "userModified": False, "replaceAll": False})()

    def ran(self, command, output, failed=False):
        self.call("Bash", {"command": command}, output,
                  {"stdout": output, "stderr": "", "interrupted": False}, failed)()

    def end(self):
        if not self.calls:
            return
        self.line("assistant", {"id": "msg_end", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                                "content": [{"type": "text", "text": "Done."}], "usage": {"input_tokens": 1, "output_tokens": 1}})
        folder = f"{HOME}/.claude/projects/{CLONES[self.clone].replace('/', '-')}"
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/{self.name}.jsonl", "w", encoding="utf-8") as out:
            out.write("\n".join(self.lines) + "\n")


def read(clone, path):
    try:
        with open(f"{CLONES[clone]}/{path}", encoding="utf-8") as file:
            return file.read().split("\n")[:-1]
    except FileNotFoundError:
        return []


def edit(who, path):
    """One to five lines come, and sometimes one goes."""
    global counter, clock
    clock += rng.randint(5, 60)
    old = read(who.clone, path)
    new, fresh = list(old), []
    for _ in range(rng.randint(1, 5)):
        counter += 1
        dice = rng.random()
        if dice < 0.62:
            fresh.append(f"    value_{counter} = measure({counter}, station={counter % 7})")
        elif dice < 0.72:
            fresh.append(f"    a{counter} = {counter}")
        elif dice < 0.80 and old:
            fresh.append(rng.choice(old))
        else:
            fresh.append(rng.choice(COMMON))
    at = rng.randint(0, len(new))
    if new and rng.random() < 0.3:
        del new[min(at, len(new) - 1)]
        at = min(at, len(new))
    new[at:at] = fresh
    os.makedirs(os.path.dirname(f"{CLONES[who.clone]}/{path}"), exist_ok=True)
    with open(f"{CLONES[who.clone]}/{path}", "w", encoding="utf-8") as file:
        file.write("".join(it + "\n" for it in new))
    for text in fresh:
        pending[who.clone][path][text].add(who.name)
    who.edited(path, old, new)


def commit(who, quiet=False):
    global counter, clock
    clock += rng.randint(5, 60)
    git(who.clone if False else CLONES[who.clone], "add", "-A")
    counter += 1
    subject = f"Change {counter}: {rng.choice(['stations', 'tides', 'gauges', 'harbour'])}"
    began = clock
    flags = ["-q"] if quiet else []
    done = git(CLONES[who.clone], "commit", *flags, "-m", subject, ok=False)
    if done.returncode:
        return
    for path, texts in pending[who.clone].items():
        for text, names in texts.items():
            introduced[subject][path][text] |= names
    pending[who.clone].clear()
    clock = began
    who.ran(f'git add -A && git commit {"-q " if quiet else ""}-m "{subject}"', done.stdout)


def exchange(who):
    """Brings the other clone's work in, by merge or rebase, and gives its own."""
    global clock
    mine, other = CLONES[who.clone], CLONES[1 - who.clone]
    if git(mine, "status", "--porcelain").stdout.strip():
        commit(who)
    clock += rng.randint(5, 60)
    how = ["--rebase"] if rng.random() < 0.6 else ["--no-rebase", "--no-edit"]
    done = git(mine, "pull", *how, "-X", "ours", other, "main", ok=False, author=False)
    if done.returncode:
        git(mine, "rebase", "--abort", ok=False)
        git(mine, "merge", "--abort", ok=False)
        return
    who.ran(f"git pull {' '.join(how)} origin main", done.stdout)


def main():
    global clock
    os.makedirs(f"{HOME}/one")
    os.makedirs(f"{HOME}/two")
    os.makedirs(CLONES[0])
    git(CLONES[0], "init", "-q", "-b", "main")
    files = [f"src/part{n}.py" for n in range(4)]
    for path in files:
        edit(Person(0), path)
    commit(Person(0))
    subprocess.run(["git", "clone", "-q", CLONES[0], CLONES[1]], env=env(), check=True, capture_output=True)
    for number in range(ROUNDS):
        clock += rng.randint(300, 4000)
        clone = rng.randrange(2)
        who = Person(clone) if rng.random() < 0.4 else Session(clone, number + 1)
        who.say(f"Please work on the stations, part {number}.")
        for _ in range(rng.randint(1, 5)):
            dice = rng.random()
            if dice < 0.66:
                edit(who, rng.choice(files))
            elif dice < 0.86:
                commit(who, quiet=rng.random() < 0.2)
            else:
                exchange(who)
        # What is left is committed by whoever comes next, more often than not by its writer.
        if rng.random() < 0.6:
            commit(who)
        who.end()
    for clone in range(2):
        if git(CLONES[clone], "status", "--porcelain").stdout.strip():
            clock += 60
            commit(Person(clone))
    exchange(Person(0))
    run = lambda *args: subprocess.run([CRU, *args], cwd=CLONES[0], env=env(), capture_output=True, text=True)
    run("init", VAULT)
    done = run("import", "claude")
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    notes = {}
    for name in os.listdir(f"{VAULT}/sessions"):
        with open(f"{VAULT}/sessions/{name}", encoding="utf-8") as file:
            notes[name[:-3]] = re.search(r"^host_session: (.*)$", file.read(), re.M).group(1)
    counts, wrong = collections.Counter(), []
    for path in files:
        blame = git(CLONES[0], "blame", "--line-porcelain", "HEAD", "--", path).stdout
        lines = re.findall(r"^summary (.*)\n(?:.*\n)*?\t(.*)$", blame, re.M)
        answer = json.loads(run("why", path, "-f", "json").stdout)
        told = {}
        for part in answer["ranges"]:
            for line in range(part["first"], part["last"] + 1):
                told[line] = part
        for line, (subject, text) in enumerate(lines, 1):
            if len(text.strip()) < 4 or not re.search(r"\w", text):
                continue
            names = introduced[subject][path].get(text, set())
            if len(names) != 1:
                counts["not known to the script"] += 1
                continue
            (truth,) = names
            origin = told[line]["origin"]
            claimed = notes.get(origin["session"]) if origin else None
            if origin and claimed == truth:
                counts["right, with its step" if origin["step"] else "right, by the commit alone"] += 1
            elif origin and not origin["step"] and truth is None:
                counts["a person's text in a commit of a session, said to be by commit"] += 1
            elif origin:
                counts["FALSE: " + ("of a person" if truth is None else "of another session")] += 1
                wrong.append((path, line, text, subject, truth, claimed, origin["by"], origin["step"]))
            elif truth is None:
                counts["right, no session" if not told[line].get("perhaps") else "cannot tell, of a person"] += 1
            elif told[line].get("perhaps"):
                counts["cannot tell, of a session"] += 1
            else:
                counts["FALSE: no session"] += 1
                wrong.append((path, line, text, subject, truth, None, "", None))
    for row in wrong[:12]:
        print(*row, sep=" | ")
    total = sum(counts.values())
    false = sum(count for name, count in counts.items() if name.startswith("FALSE"))
    for name, count in counts.most_common():
        print(f"{count:6}  {name}")
    print(f"seed {SEED}: {total} lines, {len(notes)} sessions, {false} false ({100 * false / max(total, 1):.2f} %); {ROOT}")
    return int(false > 0.002 * total)


if __name__ == "__main__":
    sys.exit(main())
