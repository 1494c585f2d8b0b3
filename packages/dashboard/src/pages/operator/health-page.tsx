import { useState } from "react";
import type { ReactNode } from "react";
import { apiUrl } from "../../api/client.ts";
import { useFeatures } from "../../api/session.ts";
import { useStream } from "../../api/stream.ts";
import type { LiveState } from "../../api/stream.ts";
import { Badge } from "../../ui/badge.tsx";
import { buttonClasses } from "../../ui/button.tsx";
import { Card, Facts, Figure, PageHead } from "../../ui/card.tsx";
import { bytes, count, fullTime } from "../../ui/format.ts";
import { Loading, Notice } from "../../ui/notice.tsx";
import { Ago } from "../../ui/time.tsx";
import { AuditList } from "../audit-list.tsx";
import type { Health, Stats } from "./operator-queries.ts";

type Reading = { readonly health: Health; readonly stats: Stats | null };

const WATCHING: Readonly<Record<LiveState, string>> = {
  connecting: "Connecting…",
  live: "Live: a new reading every two seconds.",
  asleep: "Waits while this page is not looked at.",
};

/** How this Relay is. */
export function HealthPage() {
  const [reading, setReading] = useState<Reading | null>(null);
  const state = useStream("operator/events", {
    // Relay's own event, in the shape its description promises.
    events: { health: (data) => setReading(JSON.parse(data) as Reading) },
  });
  return (
    <>
      <PageHead
        title="Health"
        note={
          <>
            <span role="status">{WATCHING[state]}</span> The same numbers, and more, are at /metrics
            for Prometheus.
          </>
        }
      />
      {reading === null ? (
        <Loading lines={8} />
      ) : (
        <div className="flex flex-col gap-6">
          <Now health={reading.health} />
          {reading.stats === null ? null : <InAll stats={reading.stats} />}
          <Setup health={reading.health} />
          <Backup health={reading.health} />
          <section>
            <h2 className="mb-3 text-base font-semibold">Everything done in the dashboard</h2>
            <AuditList path="operator/audit" />
          </section>
        </div>
      )}
    </>
  );
}

function Row({ children }: { readonly children: ReactNode }) {
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-5 sm:grid-cols-3 lg:grid-cols-6">{children}</dl>
  );
}

function Now({ health }: { readonly health: Health }) {
  const { eventLoop, store } = health;
  return (
    <Card
      title={
        <span className="inline-flex items-center gap-2">
          Now{" "}
          <Badge tone={health.ready ? "good" : "danger"}>
            {health.ready ? "takes calls" : "takes no calls"}
          </Badge>
        </span>
      }
      note={
        <>
          Relay {health.versions.relay} on Node {health.versions.node}, up since{" "}
          <Ago at={health.startedAt} /> ({fullTime(health.startedAt)})
        </>
      }
    >
      {health.reason === null ? null : (
        <div className="mb-4">
          <Notice tone="danger">{health.reason}</Notice>
        </div>
      )}
      <Row>
        <Figure name="Sockets open" value={count(health.openSockets)} />
        <Figure name="Links connected" value={count(health.connectedLinks)} />
        <Figure name="Calls running" value={count(health.callsInFlight)} />
        <Figure name="Rows not yet written" value={count(health.unwrittenRows)} />
        <Figure name="Memory" value={bytes(health.memoryBytes)} />
        <Figure
          name="Store"
          value={bytes(store.bytes)}
          note={`writes wait ${Math.round(store.writeDelayMs)} ms`}
        />
        <Figure
          name="Event loop busy"
          value={eventLoop === null ? "–" : `${Math.round(eventLoop.busy * 100)} %`}
        />
        <Figure
          name="Timers late, p99"
          value={eventLoop === null ? "–" : `${eventLoop.p99Ms.toFixed(1)} ms`}
          note={
            eventLoop === null
              ? "after the next reading"
              : `at worst ${eventLoop.maxMs.toFixed(0)} ms`
          }
        />
      </Row>
    </Card>
  );
}

function InAll({ stats }: { readonly stats: Stats }) {
  return (
    <Card title="In all">
      <Row>
        <Figure name="Accounts" value={count(stats.accounts)} />
        <Figure name="Projects" value={count(stats.projects)} />
        <Figure name="Links" value={count(stats.links)} />
        <Figure name={`Calls in ${stats.month}`} value={count(stats.total)} />
        <Figure name="of them counted" value={count(stats.counted)} />
        <Figure name="ok" value={count(stats.byOutcome.ok ?? 0)} />
      </Row>
    </Card>
  );
}

function Setup({ health }: { readonly health: Health }) {
  const features = useFeatures();
  if (features === undefined) return null;
  return (
    <Card
      title="How it is set up"
      note="Environment variables; npm run relay -- config lists them all."
    >
      <Facts
        rows={[
          { name: "Address", value: <code className="break-all">{features.publicUrl}</code> },
          {
            name: "MCP address",
            value: <code className="break-all">{features.mcpPublicUrl}</code>,
          },
          {
            name: "Sign-up",
            value: features.signUp === "open" ? "open to everybody" : "by invitation",
          },
          { name: "Mail", value: features.mail ? "on" : "off: links are passed on by hand" },
          { name: "GitHub sign-in", value: features.github ? "on" : "off" },
          {
            name: "Passkeys",
            value: features.passkeys ? "on" : "off: they need https or localhost as the address",
          },
          { name: "Billing", value: features.billing },
          {
            name: "Calls kept",
            value: `${health.limits["callRetentionDays"] ?? "?"} days`,
          },
        ]}
      />
    </Card>
  );
}

function Backup({ health }: { readonly health: Health }) {
  return (
    <Card
      title="Backup"
      note="One file with everything Relay remembers, taken while it runs."
      actions={
        <a href={apiUrl("operator/backup")} download className={buttonClasses("secondary", true)}>
          Download a backup
        </a>
      }
    >
      <p className="text-sm text-quiet">
        It holds secrets: the key that seals URLs, the operator token, hashes of passwords. About{" "}
        {bytes(health.store.bytes)}. <code>npm run relay -- restore FILE</code> makes a new data
        folder of it.
      </p>
    </Card>
  );
}
