#!/usr/bin/env python3
"""Loads exported event logs in pm4py, and validates them where the published schemas are at hand.

Not part of `cargo test`; `tests/mining.sh` makes the logs of real sessions, fetches the schemas and runs this.

    python3 tests/process_mining.py RUNS.xes RUNS.json [SCHEMAS]

SCHEMAS is a folder with ocel20-schema-json.json and xes-ieee-1849-2016.xsd.
"""

import json
import pathlib
import sys

import pm4py

xes, ocel = sys.argv[1:3]
raw = json.load(open(ocel))

if len(sys.argv) > 3:
    import jsonschema
    import xmlschema

    schemas = pathlib.Path(sys.argv[3])
    schema = json.load(open(schemas / "ocel20-schema-json.json"))
    check = jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker())
    odd = [f"{'/'.join(map(str, error.path))}: {error.message}" for error in check.iter_errors(raw)]
    assert not odd, odd[:5]
    # The schema of 2016 names no namespace of its own; files stand in that of the standard.
    schema = xmlschema.XMLSchema(schemas / "xes-ieee-1849-2016.xsd", namespace="http://www.xes-standard.org/")
    odd = [f"{error.path}: {error.reason}" for error in schema.iter_errors(xes)]
    assert not odd, odd[:5]
    print("both fit their published schemas")

# What a reader takes from it must be what was written.
declared = {kind["name"]: {it["name"] for it in kind["attributes"]} for kind in raw["eventTypes"]}
known = {it["id"] for it in raw["objects"]}
for event in raw["events"]:
    assert {it["name"] for it in event["attributes"]} <= declared[event["type"]], event
    assert {it["objectId"] for it in event["relationships"]} <= known, event

log = pm4py.read_xes(xes)
for column in ["case:concept:name", "concept:name", "lifecycle:transition"]:
    assert column in log.columns, f"{column} is missing: {list(log.columns)}"
print(f"xes: {log['case:concept:name'].nunique()} traces, {len(log)} events")
if "time:timestamp" in log.columns:
    # Sessions that record no time have none in the log either.
    net, start, end = pm4py.discover_petri_net_inductive(log.dropna(subset=["time:timestamp"]))
    print(f"     a net of {len(net.transitions)} transitions")

objects = pm4py.read_ocel2_json(ocel)
assert len(objects.events) == len(raw["events"]), "events were lost"
assert len(objects.objects) == len(raw["objects"]), "objects were lost"
assert set(objects.events["ocel:activity"]) == {it["name"] for it in raw["eventTypes"]}
if "duration_ms" in objects.events.columns:
    assert objects.events["duration_ms"].dropna().map(lambda it: isinstance(it, float)).all(), "times are no numbers"
print(f"ocel: {len(objects.events)} events, {len(objects.objects)} objects, {len(objects.relations)} relations")
