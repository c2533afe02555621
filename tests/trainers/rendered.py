#!/usr/bin/env python3
"""Judges the report of train_check.py, and renders the rows once more: no text may be lost in any chat template.

    rendered.py REPORT FILE.jsonl ...              rows for any template; every text but that beside a call
    rendered.py --template NAME FILE.jsonl ...     rows written for NAME (llama3, gptoss, deepseek); every text

A template may write a text as it is, or as a JSON string (Llama 3.1 and gpt-oss write what tools answer so: a line end is \\n
there). Each text is looked for whole, in both forms, in all templates. train_check.py looks for the first 60 characters as they
are, and calls a JSON string with a line end in them lost: its lines about rendering are judged by what is found here.
Exit 0: everything else passed, and nothing is lost.
"""
import collections
import importlib.util
import json
import sys
from pathlib import Path

from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

TEMPLATES = {"llama3": ["llama3_1"], "gptoss": ["gptoss"], "deepseek": ["deepseekv3"]}
# What these drop beside a call, and the arguments that the last one takes, is why rows are written for them.
LOSING = {name for names in TEMPLATES.values() for name in names}


def conversations(row):
    if "messages" in row:
        yield row["messages"]
    for answer in ("completion", "chosen", "rejected"):
        if answer in row:
            yield row["prompt"] + row[answer]


def forms(text):
    for it in (text, text.strip()):
        yield it
        yield json.dumps(it, ensure_ascii=False)[1:-1]
        yield json.dumps(it)[1:-1]


def rendered(name, files, beside_calls):
    """How many texts were looked for, what was lost, and what failed, by kind."""
    folder = Path(importlib.util.find_spec("trl").submodule_search_locations[0]) / "chat_templates"
    template = (folder / f"{name}.jinja").read_text()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), eos_token="<eos>", bos_token="<bos>")
    looked, lost = 0, collections.Counter()
    for file in files:
        for line in open(file, encoding="utf-8"):
            row = json.loads(line)
            for messages in conversations(row):
                try:
                    text = tokenizer.apply_chat_template(
                        messages, tools=json.loads(row["tools"]) or None, chat_template=template, tokenize=False
                    )
                except Exception as error:  # a template raises what it likes
                    lost[f"not rendered: {str(error)[:80]}"] += 1
                    continue
                for message in messages:
                    calls = message.get("tool_calls") or []
                    texts = [("tool name", call["function"]["name"]) for call in calls]
                    if message["content"].strip() and (beside_calls or not calls):
                        texts.append((message["role"] + (" beside a call" if calls else ""), message["content"]))
                    for kind, wanted in texts:
                        looked += 1
                        lost[kind] += not any(form in text for form in forms(wanted))
    return looked, {kind: count for kind, count in lost.items() if count}


def main():
    args = sys.argv[1:]
    bad = False
    if args[0] == "--template":
        names, files, beside = TEMPLATES[args[1]], args[2:], True
    else:
        report = json.loads(Path(args[0]).read_text())
        failed = [check for check in report["checks"] if check["ok"] is False]
        for check in (check for check in failed if not check["what"].startswith("chat template ")):
            bad = True
            print(f"  FAIL {check['what']}: {check['detail'][:300]}")
        names = [check["what"].split()[-1] for check in report["checks"] if check["what"].startswith("chat template ")]
        files, beside = args[1:], False
    for name in dict.fromkeys(names):
        if args[0] != "--template" and name == "deepseekv3":
            print(f"  note {name}: arguments as objects; see --template")
            continue
        looked, lost = rendered(name, files, beside or name not in LOSING)
        bad = bad or bool(lost) or not looked
        print(f"  {'FAIL' if lost or not looked else 'ok  '} {name}: {looked} texts looked for, lost {lost or 0}")
    sys.exit(bad)


main()
