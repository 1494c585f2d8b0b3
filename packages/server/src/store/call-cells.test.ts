import assert from "node:assert/strict";
import { test } from "node:test";
import { mintLinkId, mintProjectId } from "../ids.ts";
import { callsOf, cellsOf } from "./call-cells.ts";
import type { CallWrite } from "./call-writes.ts";
import { newCall } from "./contract/records.ts";

test("calls come out of the flat list as they went in", () => {
  const [projectId, linkId] = [mintProjectId(1), mintLinkId(1)];
  const call = newCall(projectId, linkId);
  const writes: CallWrite[] = [
    [call, false, null],
    [{ ...call, client: { name: "", version: "2" }, toolKnown: false, counted: false }, true, null],
    [{ ...call, client: null, tool: "a\nb", durationMs: 0, resultBytes: 131_072 }, false, null],
  ];
  assert.deepEqual(callsOf(cellsOf(writes)), writes);
  assert.deepEqual(callsOf(cellsOf([])), []);
});

test("every field of a call has its cell: none takes another's", () => {
  const call = newCall(mintProjectId(1), mintLinkId(1), { client: { name: "n", version: "v" } });
  const flat = (value: object): unknown[] =>
    Object.values(value).flatMap((field: unknown) =>
      typeof field === "object" && field !== null ? Object.values(field) : [field],
    );
  assert.equal(cellsOf([[call, false]]).length, flat(call).length + 2);
});
