import type { Outcome } from "@relay/protocol";

/** What Relay's answers hold, as the pages read them; times are ISO 8601 UTC. */
export type Page<Item> = { readonly items: readonly Item[]; readonly nextCursor: string | null };
export type Named = { readonly name: string; readonly version: string };

export type Features = {
  readonly signUp: "open" | "invited";
  readonly setUpNeeded: boolean;
  readonly mail: boolean;
  readonly github: boolean;
  readonly passkeys: boolean;
  readonly billing: "off" | "quota" | "prepaid";
  readonly publicUrl: string;
  readonly mcpPublicUrl: string;
  readonly version: string;
};

export type Role = "owner" | "admin" | "developer" | "billing";
export type Me = {
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly email: string;
    readonly twoFactor: boolean;
  };
  readonly isOperator: boolean;
  /** Whether the password was given in the last 15 minutes. */
  readonly isFresh: boolean;
  readonly accounts: readonly {
    readonly accountId: string;
    readonly name: string;
    readonly role: Role;
  }[];
};

export type Project = {
  readonly projectId: string;
  readonly accountId: string;
  readonly name: string;
  readonly callsPerMinute: number;
  readonly allowedOrigins: readonly string[];
  readonly suspended: boolean;
  readonly stopped: boolean;
  readonly createdAt: string;
  readonly role?: Role;
};
export type MadeProject = Project & {
  readonly publishableKey: string;
  readonly secretKey: string;
};

export type Key = {
  readonly keyId: string;
  readonly kind: "pk" | "sk";
  readonly prefix: string;
  readonly last4: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
  /** The whole of it: of a publishable key always, of a secret one only when it is made. */
  readonly key: string | null;
};

export type Warning = { readonly path: string; readonly message: string };
export type Link = {
  readonly linkId: string;
  readonly label: string | null;
  readonly connected: boolean;
  readonly paused: boolean;
  readonly revoked: boolean;
  readonly createdAt: string;
  readonly lastSeenAt: string | null;
  readonly lastCallAt: string | null;
  readonly app: Named | null;
  readonly client: Named | null;
  readonly tools: number;
  readonly warnings: readonly Warning[];
  readonly trial?: boolean;
};
export type MadeLink = {
  readonly linkId: string;
  readonly linkToken: string;
  readonly mcpUrl: string;
  readonly socketUrl: string;
  readonly label: string | null;
};
export type LinkHistory = {
  readonly sockets: readonly {
    readonly connectedAt: string;
    readonly disconnectedAt: string | null;
    readonly durationMs: number | null;
    readonly closeCode: number | null;
    readonly closeReason: string | null;
    readonly app: Named;
  }[];
  readonly manifests: readonly {
    readonly hash: string;
    readonly at: string;
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly changed: readonly string[];
  }[];
};

export type JsonSchema = { readonly [key: string]: unknown };
export type ManifestTool = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: Readonly<Record<string, unknown>>;
};
export type Manifest = {
  readonly tools: readonly ManifestTool[];
  readonly warnings: readonly Warning[];
  readonly instructions: string | null;
};

export type Call = {
  readonly id: string;
  readonly linkId: string;
  readonly tool: string;
  readonly client: Named | null;
  readonly outcome: Outcome;
  readonly counted: boolean;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly requestBytes: number;
  readonly resultBytes: number;
  readonly requestId: string;
};
/** A host by what it calls itself, and how many of the newest calls it made. */
export type ClientCalls = { readonly name: string; readonly calls: number };
export type OutcomeCounts = Partial<Readonly<Record<Outcome, number>>>;
export type Hour = { readonly hour: string; readonly byOutcome: OutcomeCounts };
export type ToolLatency = {
  readonly tool: string;
  readonly calls: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
  readonly buckets: readonly { readonly upToMs: number | null; readonly calls: number }[];
};

export type Checklist = {
  readonly linkCreated: boolean;
  readonly socketReady: boolean;
  readonly tools: readonly string[];
  readonly firstHost: Named | null;
  readonly firstCall: { readonly outcome: Outcome; readonly at: string } | null;
  readonly lastFault: Fault | null;
};
export type Fault = {
  readonly what: string;
  readonly at: string;
  readonly text: string;
  /** What to do about it, in a sentence. */
  readonly fix?: string;
  /** The origin that was refused, where that is what went wrong. */
  readonly origin?: string;
  readonly closeCode?: number;
};
export type RefusedOrigin = {
  readonly origin: string;
  readonly at: string;
  readonly count: number;
};

export type Usage = {
  readonly month: string;
  readonly counted: number;
  readonly total: number;
  readonly byOutcome: OutcomeCounts;
  readonly days: readonly {
    readonly day: string;
    readonly counted: number;
    readonly total: number;
  }[];
  readonly allowance: number | null;
  readonly allowanceLeft: number | null;
  readonly spentMicros: number;
  readonly spendCapMicros: number | null;
  readonly balanceMicros: number;
  readonly callsLeft: number | null;
};
export type LedgerEntry = {
  readonly id: string;
  readonly at: string;
  readonly kind: string;
  readonly amountMicros: number;
  readonly note: string | null;
  readonly sourceKey: string;
};
