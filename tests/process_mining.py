#!/usr/bin/env python3
"""Loads exported event logs in pm4py. Not part of `cargo test`: it needs `pip install pm4py`.

    cru workflow export --to xes -o runs.xes
    cru workflow export --to ocel -o runs.json
    python3 tests/process_mining.py runs.xes runs.json
"""

import json
import sys

import pm4py

xes, ocel = sys.argv[1:3]

log = pm4py.read_xes(xes)
for column in ["case:concept:name", "concept:name", "lifecycle:transition"]:
    assert column in log.columns, f"{column} is missing: {list(log.columns)}"
print(f"xes: {log['case:concept:name'].nunique()} traces, {len(log)} events")
net, start, end = pm4py.discover_petri_net_inductive(log) if "time:timestamp" in log.columns else (None, None, None)
if net is not None:
    print(f"     a net of {len(net.transitions)} transitions")

objects = pm4py.read_ocel2_json(ocel)
raw = json.load(open(ocel))
assert len(objects.events) == len(raw["events"]), "events were lost"
assert len(objects.objects) == len(raw["objects"]), "objects were lost"
assert set(objects.events["ocel:activity"]) == {it["name"] for it in raw["eventTypes"]}
print(f"ocel: {len(objects.events)} events, {len(objects.objects)} objects, {len(objects.relations)} relations")
