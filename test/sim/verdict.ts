import type { SimCall } from "./sim-call.ts";
import type { SimRelay } from "./relay.ts";

/** Judges what must hold once nothing happens any more: no call is open, no socket, no row unwritten. */
export function judgeTheEnd(relay: SimRelay): void {
  const { judge, calls } = relay.world;
  for (const call of calls) {
    if (call.hasStarted) judgeCall(relay, call);
    else judge.check("endsOnce", call.hasEnded, () => `${call.name} was never answered`);
  }
  judgeSums(relay);
  judgeLeftovers(relay);
}

function judgeCall(relay: SimRelay, call: SimCall): void {
  const { judge, store } = relay.world;
  const { name, outcome } = call;
  judge.check("endsOnce", outcome !== null, () => `${name} has no outcome`);
  judge.check("inTime", outcome !== null, () => `${name} has no outcome`);
  judge.check(
    call.wasSent ? "streamEnds" : "endsOnce",
    call.hasEnded,
    () => `${name} was never answered`,
  );
  const row = store.rows.get(call.requestId);
  judge.check("endsOnce", row?.outcome === outcome, () => {
    return `${name} is ${outcome}, and its row says ${row?.outcome ?? "nothing: there is none"}`;
  });
  if (row === undefined) return;
  judge.check("usedIsRows", row.counted === call.isCounted, () => {
    return `${name} is ${outcome}, ${call.wasSent ? "" : "not "}sent, and its row has counted=${row.counted}`;
  });
  judge.check("unsentUncounted", call.wasSent || !row.counted, () => {
    return `${name} never reached its app, and is counted`;
  });
  const answered = outcome === "ok" || outcome === "tool_error";
  judge.check(
    "unsentUncounted",
    !answered || row.counted,
    () => `${name} was answered, and is not counted`,
  );
  judge.check("disconnectedUncounted", outcome !== "disconnected" || !row.counted, () => {
    return `${name} lost its socket, and is counted`;
  });
  judge.check("endsOnce", row.linkId === call.link.linkId && row.durationMs >= 0, () => {
    return `the row of ${name} is of ${row.linkId} and took ${row.durationMs} ms`;
  });
}

function judgeSums(relay: SimRelay): void {
  const { world, quota, told } = relay;
  const { judge, store, calls } = world;
  const started = calls.filter((call) => call.hasStarted);
  const rows = [...store.rows.values()];
  const counted = rows.filter((row) => row.counted).length;
  const used = started.filter((call) => call.isCounted).length;
  let rolledUp = 0;
  let rolledUpCounted = 0;
  for (const sum of store.rollUps.values()) {
    rolledUp += sum.calls;
    rolledUpCounted += sum.counted;
  }
  const sums = `${used} used, ${counted} counted rows, ${rolledUpCounted} rolled up, ${quota.spent.size} spent`;
  const agree = used === counted && counted === rolledUpCounted && counted === quota.spent.size;
  judge.check("usedIsRows", agree, () => sums);
  const all = `${started.length} calls, ${rows.length} rows, ${rolledUp} rolled up, ${told.calls} told`;
  const same = [rows.length, rolledUp, told.calls].every((sum) => sum === started.length);
  judge.check("usedIsRows", same, () => all);
}

function judgeLeftovers(relay: SimRelay): void {
  const { world, quota } = relay;
  const { judge, node, clock, nameOf } = world;
  judge.check("reservationOnce", quota.held.size === 0, () => {
    return `${[...quota.held].map(nameOf).join(", ")} is reserved for ever`;
  });
  judge.check(
    "usedIsRows",
    node.settler.unwritten === 0,
    () => `${node.settler.unwritten} rows unwritten`,
  );
  judge.check("rowFirst", !node.settler.isLate, () => "the store is late although all is written");
  node.registry.forgetIdle(clock.monotonic());
  const kept = [...node.registry.drivers()].length;
  judge.check("socketsCounted", kept === 0 && node.registry.connectedCount === 0, () => {
    return `${kept} links are kept and ${node.registry.connectedCount} listed as connected, all idle`;
  });
}
