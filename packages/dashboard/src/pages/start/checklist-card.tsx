import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { useChecklist } from "../../api/live.tsx";
import type { LiveState } from "../../api/live.tsx";
import { checklistQuery, projectQuery } from "../../api/project-queries.ts";
import type { Checklist, Fault } from "../../api/shapes.ts";
import { OutcomeChip } from "../../ui/badge.tsx";
import { Button, buttonClasses } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { classes } from "../../ui/classes.ts";
import { FailureNote, Loading, Notice } from "../../ui/notice.tsx";
import { Ago } from "../../ui/time.tsx";
import { say } from "../../ui/toast.tsx";
import { OUTCOME_HINTS } from "../calls/outcome-hints.ts";

type Step = { readonly title: string; readonly done: boolean; readonly detail: ReactNode };

/** How far the project has come on the way to its first call; ticks by itself. */
export function ChecklistCard({ projectId }: { readonly projectId: string }) {
  const { checklist: pushed, state } = useChecklist();
  // Asked for once, so that the page is not empty where no stream comes through.
  const asked = useQuery({ ...checklistQuery(projectId), enabled: pushed === null });
  const list = pushed ?? asked.data;
  if (list === undefined) {
    return asked.error === null ? (
      <Loading lines={5} />
    ) : (
      <FailureNote failure={asked.error} onRetry={() => void asked.refetch()} />
    );
  }
  const steps = stepsOf(list);
  const next = steps.findIndex(({ done }) => !done);
  return (
    <Card
      title={next === -1 ? "It works" : "First call"}
      note={next === -1 ? "A call went the whole way and came back." : LISTENING[state]}
    >
      <ol className="flex flex-col gap-4">
        {steps.map((step, index) => (
          <StepLine key={step.title} step={step} number={index + 1} isNext={index === next} />
        ))}
      </ol>
      {list.lastFault === null || next === -1 ? null : (
        <div className="mt-4">
          <FaultNote projectId={projectId} fault={list.lastFault} />
        </div>
      )}
      {next === -1 ? (
        <Link
          to="/projects/$projectId/calls"
          params={{ projectId }}
          className={classes(buttonClasses("primary"), "mt-4 w-full")}
        >
          See every call
        </Link>
      ) : null}
    </Card>
  );
}

const LISTENING: Readonly<Record<LiveState, string>> = {
  connecting: "Connecting…",
  live: "Listening; you need not reload.",
  asleep: "Waits while this page is not looked at.",
};

function stepsOf(list: Checklist): readonly Step[] {
  const { linkCreated, socketReady, tools, firstHost, firstCall } = list;
  return [
    {
      title: "A link is created",
      done: linkCreated,
      detail: "The app asks for one with the publishable key.",
    },
    {
      title: "The app is connected",
      done: socketReady,
      detail: "Its socket said hello and Relay answered ready.",
    },
    {
      title: "Its tools are known",
      done: tools.length > 0,
      detail: tools.length > 0 ? <ToolNames tools={tools} /> : "They come with the hello.",
    },
    {
      title: "A host has called in",
      done: firstHost !== null || firstCall?.outcome === "ok",
      detail:
        firstHost === null ? (
          "Give the link’s URL to Claude, ChatGPT, Cursor, VS Code or curl."
        ) : (
          <bdi>
            {firstHost.name} {firstHost.version}
          </bdi>
        ),
    },
    {
      title: "A call came back",
      done: firstCall?.outcome === "ok",
      detail: firstCall === null ? "Ask the host for something." : <FirstCall call={firstCall} />,
    },
  ];
}

function ToolNames({ tools }: { readonly tools: readonly string[] }) {
  const shown = tools.slice(0, 6);
  return (
    <span className="break-words">
      {shown.map((tool, index) => (
        <span key={tool}>
          {index === 0 ? "" : ", "}
          <code>{tool}</code>
        </span>
      ))}
      {tools.length > shown.length ? ` and ${tools.length - shown.length} more` : ""}
    </span>
  );
}

function FirstCall({ call }: { readonly call: NonNullable<Checklist["firstCall"]> }) {
  return (
    <>
      <OutcomeChip outcome={call.outcome} /> <Ago at={call.at} />
      {call.outcome === "ok" ? null : <span className="block">{OUTCOME_HINTS[call.outcome]}</span>}
    </>
  );
}

function StepLine({
  step,
  number,
  isNext,
}: {
  readonly step: Step;
  readonly number: number;
  readonly isNext: boolean;
}) {
  return (
    <li className="flex gap-3" aria-current={isNext ? "step" : undefined}>
      <span
        aria-hidden
        className={classes(
          "mt-px flex size-5 shrink-0 items-center justify-center rounded-full text-xs font-semibold tabular-nums",
          step.done
            ? "bg-accent text-on-accent"
            : isNext
              ? "border-2 border-accent text-accent"
              : "border border-line-strong text-quiet",
        )}
      >
        {step.done ? "✓" : number}
      </span>
      <div className="min-w-0">
        <p className={classes("font-medium", !step.done && !isNext && "text-quiet")}>
          {step.title}
          <span className="sr-only">{step.done ? ": done" : ": not yet"}</span>
        </p>
        <div className="text-sm text-quiet">{step.detail}</div>
      </div>
    </li>
  );
}

/** What went wrong last, and the step that mends it where there is one. */
function FaultNote({ projectId, fault }: { readonly projectId: string; readonly fault: Fault }) {
  const client = useQueryClient();
  const { origin } = fault;
  const allow = useAction(
    async (wanted: string) => {
      const project = await client.fetchQuery({ ...projectQuery(projectId), staleTime: 0 });
      const allowedOrigins = [...new Set([...project.allowedOrigins, wanted])];
      await request("PATCH", `projects/${projectId}`, { allowedOrigins });
    },
    () => {
      say("The origin is allowed; the app can connect now.");
      void client.invalidateQueries({ queryKey: ["project", projectId] });
    },
  );
  return (
    <>
      <Notice tone="warn" title="The app could not connect">
        <p dir="auto">{fault.text}</p>
        {fault.fix === undefined ? null : <p dir="auto">{fault.fix}</p>}
        <p>
          <Ago at={fault.at} />
        </p>
        {origin === undefined ? null : (
          <div className="mt-2">
            <Button small busy={allow.busy} onClick={() => allow.run(origin)}>
              Allow <bdi className="max-w-48 truncate">{origin}</bdi>
            </Button>
          </div>
        )}
      </Notice>
      {allow.failure === null ? null : <FailureNote failure={allow.failure} />}
    </>
  );
}
