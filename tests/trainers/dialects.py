#!/usr/bin/env python3
"""Loads the rows of `--dialect openai` and `--dialect axolotl` with the published code of the programs that read them.

    dialects.py OPENAI_ROWS AXOLOTL_ROWS

Both are export folders. Needs datasets, transformers, openai and colorama, and on PYTHONPATH the sources of together (before
version 2, which still has the rules of its service), llamafactory and axolotl; none of the three needs to be installed whole.
Exit 0: everything is read, and read as it is meant.
"""
import json
import os
import re
import sys
import types
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
os.environ.setdefault("LLAMAFACTORY_VERBOSITY", "ERROR")
failed = []


def say(ok, what, detail=""):
    print(f"  {'ok  ' if ok else 'FAIL'} {what}" + (f": {detail}" if detail != "" else ""), flush=True)
    if not ok:
        failed.append(what)


def rows_of(file):
    return [json.loads(line) for line in open(file, encoding="utf-8")]


def leaves(value):
    """Every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item)


def counted(problems):
    return "; ".join(f"{what} x{len(at)}, first row {at[0]}" for what, at in problems.items())


# ---------------------------------------------------------------- OpenAI, Together, Fireworks
def openai_messages(messages, tools, bad):
    """The message types of the openai package, and what its service asks of tools."""
    from openai.types import chat
    from pydantic import TypeAdapter, ValidationError

    kinds = {
        "system": chat.ChatCompletionSystemMessageParam,
        "user": chat.ChatCompletionUserMessageParam,
        "assistant": chat.ChatCompletionAssistantMessageParam,
        "tool": chat.ChatCompletionToolMessageParam,
    }
    open_calls = set()
    for message in messages:
        kind = kinds.get(message.get("role"))
        if kind is None:
            bad(f"role {message.get('role')}")
            continue
        extra = set(message) - set(kind.__annotations__) - ({"weight"} if message["role"] == "assistant" else set())
        if extra:
            bad(f"{message['role']} has {sorted(extra)}")
        try:
            TypeAdapter(kind).validate_python({key: value for key, value in message.items() if key != "weight"})
            for call in message.get("tool_calls", []):
                TypeAdapter(chat.ChatCompletionMessageFunctionToolCallParam).validate_python(call)
        except ValidationError as error:
            bad(str(error.errors()[0])[:120])
        if message["role"] != "tool" and open_calls:
            bad("a call without an answer")
        for call in message.get("tool_calls", []):
            open_calls.add(call["id"])
            if not isinstance(json.loads(call["function"]["arguments"]), dict):
                bad("arguments are no object")
            if call["function"]["name"] not in {tool["function"]["name"] for tool in tools}:
                bad("a call of a tool that is not there")
        if message["role"] == "tool" and message["tool_call_id"] not in open_calls:
            bad("an answer without a call")
        open_calls.discard(message.get("tool_call_id"))
        if message.get("weight", 1) not in (0, 1):
            bad("weight")
    for tool in tools:
        try:
            TypeAdapter(chat.ChatCompletionFunctionToolParam).validate_python(tool)
        except ValidationError as error:
            bad(str(error.errors()[0])[:120])
        if not re.fullmatch("[A-Za-z0-9_-]{1,64}", tool["function"]["name"]):
            bad(f"name of a tool: {tool['function']['name']}")
    if len(tools) > 128:
        bad("more than 128 tools")


def openai(folder):
    from together.utils.files import check_file, validate_messages

    for file in sorted(folder.glob("*/*.jsonl")):
        if file.name.endswith(".metadata.jsonl"):
            continue
        rows, problems = rows_of(file), {}
        texts = 0
        for at, row in enumerate(rows, 1):
            bad = lambda what: problems.setdefault(what, []).append(at)
            if "input" in row:
                if set(row) != {"input", "preferred_output", "non_preferred_output"} or "tools" in row["input"]:
                    bad(f"columns {sorted(row)}")
                openai_messages(row["input"]["messages"], [], bad)
                for answer in ("preferred_output", "non_preferred_output"):
                    openai_messages(row[answer], [], bad)
                    if len(row[answer]) != 1 or not row[answer][0]["content"].strip():
                        bad(f"{answer} is not one message with words")
                if row["input"]["messages"][-1]["role"] != "user":
                    bad("the input does not end with the user")
                continue
            if not set(row) <= {"messages", "tools", "parallel_tool_calls"} or row.get("tools") == []:
                bad(f"columns {sorted(row)}")
            openai_messages(row["messages"], row.get("tools", []), bad)
            if row["messages"][-1]["role"] != "assistant" or row["messages"][-1].get("weight", 1) != 1:
                bad("the last message is not trained on")
            if "tools" not in row:
                texts += 1
                try:
                    validate_messages(row["messages"], at)
                except Exception as error:  # noqa: BLE001
                    bad(f"together: {error}")
        name = f"{file.parent.name}/{file.name}"
        say(not problems, f"openai {name} by the types of the package", counted(problems) or f"{len(rows)} rows")
        if file.parent.name == "preference":
            report = check_file(file)
            say(report["is_check_passed"], f"together {name}", report["message"])
        else:
            say(True, f"together {name}", f"{texts} rows without tools by its rules of conversations")
        aside = rows_of(file.with_name(file.name.replace(".jsonl", ".metadata.jsonl")))
        say(len(aside) == len(rows) and all("id" in it for it in aside), f"metadata of {name} lies beside it, line by line")


# ---------------------------------------------------------------- LLaMA-Factory
def package(name, path):
    """A package without what its `__init__` loads, which needs all that the program needs."""
    module = types.ModuleType(name)
    module.__path__ = [str(path)]
    sys.modules[name] = module


def llama_factory(folder):
    place = next(Path(at) / "llamafactory" for at in sys.path if (Path(at) / "llamafactory").is_dir())
    package("llamafactory", place)
    package("llamafactory.data", place / "data")
    from datasets import load_dataset
    from llamafactory.data.converter import get_dataset_converter
    from llamafactory.data.parser import get_dataset_list

    names = list(json.loads((folder / "dataset_info.json").read_text()))
    for attr, name in zip(get_dataset_list(names, str(folder)), names):
        data_args = types.SimpleNamespace(media_dir="")
        converter = get_dataset_converter(attr.formatting, attr, data_args)
        loaded = load_dataset("json", data_files=str(folder / attr.dataset_name), split="train")
        problems = {}
        for at, row in enumerate(loaded, 1):
            bad = lambda what: problems.setdefault(what, []).append(at)
            row = {key: json.loads(value) if key in ("messages", "chosen", "rejected") and isinstance(value, str) else value for key, value in row.items()}
            made = converter(row)
            if not made["_prompt"] or not made["_response"]:
                bad("skipped")
                continue
            if made["_prompt"][-1]["role"] not in ("user", "observation"):
                bad("the prompt ends with the agent")
            wanted = 2 if attr.ranking or attr.kto_tag else 1
            if len(made["_response"]) != wanted:
                bad(f"{len(made['_response'])} answers")
            if attr.ranking and [it["content"] for it in made["_response"]] != [row["chosen"]["content"], row["rejected"]["content"]]:
                bad("chosen and rejected are not those of the row")
            if attr.kto_tag and bool(made["_response"][0]["content"]) != row["label"]:
                bad("the label is lost")
        say(not problems, f"llamafactory {name}", counted(problems) or f"{len(loaded)} rows")


# ---------------------------------------------------------------- Axolotl
def tokenizer_of(rows):
    import trl
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    plain = Tokenizer(models.BPE())
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=4000, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    plain.train_from_iterator((json.dumps(row, ensure_ascii=False) for row in rows), trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    # A template without marks of its own for training, as models have it.
    tokenizer.chat_template = (Path(trl.__file__).parent / "chat_templates" / "qwen2_5.jinja").read_text()
    return tokenizer


def axolotl(folder):
    from datasets import load_dataset

    from axolotl.prompt_strategies import chat_template
    from axolotl.prompt_strategies.dpo import chat_template as dpo
    from axolotl.utils.dict import DictDefault

    cfg = DictDefault({"sequence_len": 1 << 20, "train_on_inputs": False, "chat_template": "tokenizer_default"})
    for table in ("sft", "completion", "preference"):
        for file in sorted((folder / table).glob("*.jsonl")):
            rows = rows_of(file)
            loaded = load_dataset("json", data_files=str(file), split="train")
            tokenizer = tokenizer_of(rows)
            problems = {}
            trained = 0
            for at, (raw, row) in enumerate(zip(rows, loaded), 1):
                bad = lambda what: problems.setdefault(what, []).append(at)
                try:
                    if table == "preference":
                        made = dpo.default(DictDefault({**cfg, "datasets": [{}]}))[0](dict(row), tokenizer=tokenizer)
                        for answer in ("chosen", "rejected"):
                            if raw[answer]["content"].strip() not in made[answer]:
                                bad(f"{answer} is lost")
                        lost = [it for it in raw["messages"] if it["content"].strip() not in made["prompt"]]
                        if lost or any("tool_calls" in it for it in raw["messages"]):
                            bad("something of the prompt is lost")
                        continue
                    dataset = {"message_field_training": "train"} if table == "completion" else {}
                    made = chat_template.load(tokenizer, cfg, dataset).tokenize_prompt(dict(row))
                    learned = tokenizer.decode([token for token in made["labels"] if token != -100])
                    trained += sum(token != -100 for token in made["labels"])
                    for message in raw["messages"]:
                        wanted = message["role"] == "assistant" and message.get("train", True)
                        # Words that stand in several messages say nothing.
                        text = message["content"].strip()[:200]
                        others = "\n".join(
                            [it["content"] for it in raw["messages"] if it is not message]
                            + [leaf for it in raw["messages"] for call in it.get("tool_calls", []) for leaf in leaves(call)]
                        )
                        if len(text) > 40 and text not in others and (text in learned) != wanted:
                            bad(f"{'not learned' if wanted else 'learned'}: {message['role']}")
                except Exception as error:  # noqa: BLE001
                    bad(f"{type(error).__name__}: {str(error)[:120]}")
            say(not problems, f"axolotl {table}/{file.name}", counted(problems) or f"{len(rows)} rows, {trained} tokens learned")


def main():
    openai(Path(sys.argv[1]))
    llama_factory(Path(sys.argv[2]))
    axolotl(Path(sys.argv[2]))
    print("PASS" if not failed else f"FAIL: {len(failed)} checks")
    sys.exit(1 if failed else 0)


main()
