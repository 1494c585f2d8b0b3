import type { LinkDriver } from "../../packages/server/src/relay/driver.ts";
import type { ProjectState } from "../../packages/server/src/relay/project-state.ts";
import type { SimRelay } from "./relay.ts";
import type { SimProject } from "./sim-link.ts";

/** Judges what must hold between any two events. */
export function audit(relay: SimRelay): void {
  auditPlaces(relay);
  const states = new Map<string, ProjectState>();
  for (const { project } of relay.world.node.registry.drivers()) {
    states.set(project.project.projectId, project);
  }
  for (const project of relay.projects) {
    const state = states.get(project.projectId);
    if (state !== undefined) auditSockets(relay, project, state.sockets);
  }
}

/** A socket counts from its hello to the news of its end; while it is greeted it may count already. */
function auditSockets(relay: SimRelay, project: SimProject, counted: number): void {
  const links = relay.links.filter((link) => link.project === project);
  const sockets = links.flatMap((link) => link.sockets);
  const placed = sockets.filter((socket) => socket.place !== null).length;
  const greeting = sockets.filter((socket) => socket.isGreeting).length;
  const isRight = counted >= placed && counted <= placed + greeting;
  relay.world.judge.check("socketsCounted", isRight, () => {
    return `${counted} sockets of ${project.name} count, ${placed} are open and ${greeting} being greeted`;
  });
}

function auditPlaces(relay: SimRelay): void {
  const { judge, open, node } = relay.world;
  const places = new Map<LinkDriver, number>();
  for (const call of open) {
    if (call.driver !== null) places.set(call.driver, (places.get(call.driver) ?? 0) + 1);
    judge.check("lostEnd", call.sentTo?.isKnownOver !== true, () => {
      return `${call.sentTo?.name} is over, and ${call.name} that it got is not`;
    });
  }
  for (const driver of node.registry.drivers()) {
    const running = places.get(driver) ?? 0;
    judge.check("placesFree", driver.inFlight === running, () => {
      return `${running} calls of ${driver.linkId} are not over, and ${driver.inFlight} hold a place`;
    });
  }
}
