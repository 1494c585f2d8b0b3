import { useId } from "react";
import type { ReactNode } from "react";
import type { JsonSchema } from "../../api/shapes.ts";
import { Check, Field, INPUT_CLASSES, Select, TextField } from "../../ui/field.tsx";
import { fieldsOf } from "./schema-fields.ts";
import type { SchemaField, Values } from "./schema-fields.ts";

/** A form of a tool's inputSchema; only for schemas that `fieldsOf` understands whole. */
export function SchemaForm({
  schema,
  values,
  onValues,
}: {
  readonly schema: JsonSchema;
  readonly values: Values;
  readonly onValues: (values: Values) => void;
}) {
  const fields = fieldsOf(schema) ?? [];
  if (fields.length === 0) {
    return <p className="text-sm text-quiet">This tool takes no arguments.</p>;
  }
  return (
    <div className="flex flex-col gap-4">
      {fields.map((field) => (
        <OneField
          key={field.name}
          field={field}
          value={values[field.name] ?? ""}
          onValue={(value) => onValues({ ...values, [field.name]: value })}
        />
      ))}
    </div>
  );
}

type OneFieldProps = {
  readonly field: SchemaField;
  readonly value: string;
  readonly onValue: (value: string) => void;
};

function OneField({ field, value, onValue }: OneFieldProps) {
  const label = (
    <>
      <code>{field.name}</code>{" "}
      <span className="text-xs font-normal text-quiet">
        {field.kind}
        {field.required ? "" : ", optional"}
      </span>
    </>
  );
  const hint = field.description === null ? undefined : <bdi>{field.description}</bdi>;
  if (field.kind === "boolean" && field.required) {
    return <BooleanField label={label} hint={hint} value={value} onValue={onValue} />;
  }
  if (field.choices !== null || field.kind === "boolean") {
    const choices = field.choices ?? ["true", "false"];
    return (
      <Field label={label} hint={hint}>
        {(ids) => (
          <Select
            {...ids}
            required={field.required}
            value={value}
            onValue={onValue}
            options={[
              { value: "", label: field.required ? "Choose one" : "Left out" },
              ...choices.map((choice) => ({ value: choice, label: choice })),
            ]}
          />
        )}
      </Field>
    );
  }
  if (field.kind === "list of text") {
    return (
      <Field label={label} hint={hint ?? "One a line."}>
        {(ids) => (
          <textarea
            {...ids}
            dir="auto"
            rows={3}
            required={field.required}
            value={value}
            onChange={(event) => onValue(event.target.value)}
            className={`${INPUT_CLASSES} h-auto py-2`}
          />
        )}
      </Field>
    );
  }
  return (
    <TextField
      label={label}
      hint={hint}
      required={field.required}
      inputMode={field.kind === "text" ? "text" : "decimal"}
      pattern={field.kind === "text" ? undefined : NUMBER}
      title={field.kind === "text" ? undefined : "A number"}
      value={value}
      onValue={onValue}
    />
  );
}

const NUMBER = "\\s*-?\\d+(\\.\\d+)?([eE][+\\-]?\\d+)?\\s*";

function BooleanField({
  label,
  hint,
  value,
  onValue,
}: {
  readonly label: ReactNode;
  readonly hint: ReactNode;
  readonly value: string;
  readonly onValue: (value: string) => void;
}) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1" aria-describedby={id}>
      <Check
        label={label}
        checked={value === "true"}
        onChecked={(checked) => onValue(String(checked))}
      />
      {hint === undefined ? null : (
        <p id={id} className="text-xs text-quiet">
          {hint}
        </p>
      )}
    </div>
  );
}
