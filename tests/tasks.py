#!/usr/bin/env python3
"""Runs the tasks of `cru session learn --export task` in clean checkouts: does the check fail before the session's edits, and pass behind them?

    tests/tasks.py TASKS.jsonl REPOSITORY [--prepare COMMAND] [--only ID…] [--keep DIR] [--timeout SECONDS]

REPOSITORY is a git repository that holds the commits. `--prepare` is what a checkout needs before its checks run (`bun install`).
The commands of the tasks are run as they are: only do that with tasks that you trust, in a container or on a machine for it.

A task is proven where its check fails with the edits of tests alone and passes with those of the code too. Prints one line for each
task, the proven ones first; with `--keep` the output of both runs is kept in DIR/ID.before and DIR/ID.after.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile


def apply(edits, root):
    """Applies edits; what could not be applied."""
    missing = []
    for edit in edits:
        path = root / edit["path"]
        if edit["deleted"]:
            path.unlink(missing_ok=True)
            continue
        text = edit["new"]
        if edit["old"]:
            before = path.read_text() if path.is_file() else ""
            if edit["old"] not in before:
                missing.append(edit["path"])
                continue
            text = before.replace(edit["old"], edit["new"], -1 if edit["all"] else 1)
        if edit["moved_to"]:
            path.unlink(missing_ok=True)
            path = root / edit["moved_to"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return missing


def run(command, root, timeout, log):
    """The exit status of a command in a work tree; None where it took too long."""
    with open(log, "w") as out:
        try:
            done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=root, stdin=subprocess.DEVNULL,
                                  stdout=out, stderr=subprocess.STDOUT, timeout=timeout)
            return done.returncode
        except subprocess.TimeoutExpired:
            return None


def prove(task, options, logs):
    """What came of a task, in a few words."""
    facts = task["metadata"]
    git = ["git", "-C", str(options.repository)]
    with tempfile.TemporaryDirectory(prefix="task-") as folder:
        root = pathlib.Path(folder) / "work"
        added = subprocess.run([*git, "worktree", "add", "--no-checkout", "--detach", str(root), facts["base_commit"]], capture_output=True)
        if added.returncode:
            return "commit not in the repository"
        # A partial copy of a repository lacks large files: what is there is checked out.
        subprocess.run(["git", "-C", str(root), "read-tree", "HEAD"], capture_output=True)
        subprocess.run(["git", "-C", str(root), "checkout-index", "--all", "--force"], capture_output=True)
        try:
            if options.prepare and run(options.prepare, root, options.timeout, logs / (task["id"] + ".prepare")) != 0:
                return "could not be prepared"
            missing = apply(facts["test_edits"], root)
            command = " && ".join(facts["fail_to_pass"])
            before = run(command, root, options.timeout, logs / (task["id"] + ".before"))
            missing += apply(facts["edits"], root)
            after = run(command, root, options.timeout, logs / (task["id"] + ".after"))
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", str(root)], capture_output=True)
    if before not in (0, None) and after == 0:
        return "proven"
    told = f"before {before}, after {after}"
    return told + (f"; not applied: {', '.join(sorted(set(missing)))}" if missing else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tasks", type=pathlib.Path)
    parser.add_argument("repository", type=pathlib.Path)
    parser.add_argument("--prepare", default="")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--timeout", type=int, default=300)
    options = parser.parse_args()
    logs = options.keep or pathlib.Path(tempfile.mkdtemp(prefix="tasks-"))
    logs.mkdir(parents=True, exist_ok=True)
    tasks = [json.loads(line) for line in options.tasks.read_text().splitlines()]
    tasks = [task for task in tasks if not options.only or task["id"] in options.only]
    found = []
    for task in tasks:
        found.append((prove(task, options, logs), task))
        print(f"{task['id']}  {found[-1][0]}", file=sys.stderr, flush=True)
    for told, task in sorted(found, key=lambda it: it[0] != "proven"):
        facts = task["metadata"]
        print(f"{told:40}  {task['id']}  {facts['base_commit']}  {' && '.join(facts['fail_to_pass'])}")
    print(f"{sum(told == 'proven' for told, _ in found)} of {len(found)} tasks proven")
    if not options.keep:
        shutil.rmtree(logs)


if __name__ == "__main__":
    main()
