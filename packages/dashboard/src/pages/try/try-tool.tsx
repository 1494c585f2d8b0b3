import { useState } from "react";
import type { ManifestTool } from "../../api/shapes.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Field, INPUT_CLASSES, Select } from "../../ui/field.tsx";
import { FailureNote, Notice } from "../../ui/notice.tsx";
import { SchemaForm } from "./schema-form.tsx";
import { argumentsText, fieldsOf, sketchOf } from "./schema-fields.ts";
import type { Values } from "./schema-fields.ts";
import { TryResult } from "./try-result.tsx";
import { useTry } from "./use-try.ts";

type TryToolProps = {
  readonly projectId: string;
  readonly linkId: string;
  readonly tools: readonly ManifestTool[];
  readonly connected: boolean;
};

/** A form for a tool's arguments, what was sent and received, and how the call ended. */
export function TryTool({ projectId, linkId, tools, connected }: TryToolProps) {
  const [name, setName] = useState(tools[0]?.name ?? "");
  const tool = tools.find((candidate) => candidate.name === name) ?? tools[0];
  const { state, start, cancel } = useTry(projectId, linkId);
  if (tool === undefined) return null;
  return (
    <div className="grid items-start gap-6 lg:grid-cols-2">
      <Card title="The call" note="It is counted like any other; its host is called dashboard.">
        <div className="flex flex-col gap-4">
          <Field label="Tool" hint={<bdi>{tool.description}</bdi>}>
            {(ids) => (
              <Select
                {...ids}
                value={tool.name}
                onValue={setName}
                options={tools.map((each) => ({ value: each.name, label: each.name }))}
              />
            )}
          </Field>
          {tool.annotations?.["destructiveHint"] === true ? (
            <Notice tone="warn">The app says that this tool may destroy something.</Notice>
          ) : null}
          <ArgumentsForm
            key={tool.name}
            tool={tool}
            busy={state.type === "running"}
            onCall={(text) => start(tool.name, text)}
            onCancel={cancel}
          />
          {connected ? null : (
            <p className="text-sm text-quiet">
              The app is not connected; the call will end as offline.
            </p>
          )}
        </div>
      </Card>
      <div className="flex min-w-0 flex-col gap-4">
        {state.type === "refused" ? <FailureNote failure={state.failure} /> : null}
        <TryResult state={state} />
      </div>
    </div>
  );
}

function ArgumentsForm({
  tool,
  busy,
  onCall,
  onCancel,
}: {
  readonly tool: ManifestTool;
  readonly busy: boolean;
  readonly onCall: (argumentsText: string) => void;
  readonly onCancel: () => void;
}) {
  const hasForm = fieldsOf(tool.inputSchema) !== null;
  const [isJson, setIsJson] = useState(!hasForm);
  const [values, setValues] = useState<Values>({});
  const [text, setText] = useState(() => sketchOf(tool.inputSchema));
  const fault = isJson ? faultOf(text) : null;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (fault === null) onCall(isJson ? text : argumentsText(tool.inputSchema, values));
      }}
    >
      {isJson ? (
        <JsonEditor text={text} fault={fault} onText={setText} hasForm={hasForm} />
      ) : (
        <SchemaForm schema={tool.inputSchema} values={values} onValues={setValues} />
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" kind="primary" busy={busy} disabled={fault !== null}>
          Call it
        </Button>
        {busy ? <Button onClick={onCancel}>Cancel the call</Button> : null}
        {hasForm ? (
          <Button
            kind="quiet"
            onClick={() => {
              if (!isJson) setText(argumentsText(tool.inputSchema, values));
              setIsJson(!isJson);
            }}
          >
            {isJson ? "As a form" : "As JSON"}
          </Button>
        ) : null}
      </div>
    </form>
  );
}

function JsonEditor({
  text,
  fault,
  onText,
  hasForm,
}: {
  readonly text: string;
  readonly fault: string | null;
  readonly onText: (text: string) => void;
  readonly hasForm: boolean;
}) {
  return (
    <Field
      label="Arguments as JSON"
      hint={
        hasForm
          ? "Sent as written: numbers and key order stay as they are."
          : "This schema is too rich for a form. Sent as written."
      }
      fault={fault}
    >
      {(ids) => (
        <textarea
          {...ids}
          dir="ltr"
          rows={8}
          spellCheck={false}
          value={text}
          onChange={(event) => onText(event.target.value)}
          className={`${INPUT_CLASSES} h-auto py-2 font-mono text-xs leading-5`}
        />
      )}
    </Field>
  );
}

function faultOf(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? null : "Arguments are a JSON object.";
  } catch (error) {
    return error instanceof Error ? error.message : "This is not JSON.";
  }
}
