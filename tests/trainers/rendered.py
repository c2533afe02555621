#!/usr/bin/env python3
"""Judges the report of train_check.py: everything passed, but for answers of tools that a template writes as JSON.

    rendered.py REPORT FILE.jsonl ...

Llama 3.1 and gpt-oss write a tool's answer through `tojson`, so its line ends and quotes stand there escaped and the check,
which looks for it as it is, calls it lost. Here each answer is looked for as JSON, whole. Exit 0: nothing is lost.
"""
import json
import re
import sys
from pathlib import Path

import trl
from transformers import PreTrainedTokenizerFast
from tokenizers import Tokenizer, models

AS_JSON = ("chat template llama3_1", "chat template gptoss")


def conversations(row):
    if "messages" in row:
        yield row["messages"]
    for answer in ("completion", "chosen", "rejected"):
        if answer in row:
            yield row["prompt"] + row[answer]


def main():
    report = json.loads(Path(sys.argv[1]).read_text())
    failed = [check for check in report["checks"] if check["ok"] is False]
    other = [check for check in failed if check["what"] not in AS_JSON or not re.search("lost in rendering: tool content", check["detail"])]
    for check in other:
        print(f"  FAIL {check['what']}: {check['detail'][:300]}")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), eos_token="<eos>", bos_token="<bos>")
    lost = {}
    looked = 0
    for name in sorted({check["what"].split()[-1] for check in failed} - {check["what"].split()[-1] for check in other}):
        template = (Path(trl.__file__).parent / "chat_templates" / f"{name}.jinja").read_text()
        for file in sys.argv[2:]:
            for line in open(file, encoding="utf-8"):
                row = json.loads(line)
                for messages in conversations(row):
                    text = tokenizer.apply_chat_template(
                        messages, tools=json.loads(row["tools"]) or None, chat_template=template, tokenize=False
                    )
                    for message in messages:
                        content = message["content"]
                        if message["role"] != "tool" or not content.strip():
                            continue
                        looked += 1
                        forms = (content, content.strip(), json.dumps(content, ensure_ascii=False)[1:-1], json.dumps(content)[1:-1])
                        if not any(form in text for form in forms):
                            lost[name] = lost.get(name, 0) + 1
    print(f"  {'FAIL' if lost else 'ok  '} answers of tools as JSON: {looked} looked for, lost {lost or 0}")
    sys.exit(1 if lost or other else 0)


main()
