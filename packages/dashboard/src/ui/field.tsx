import { useId } from "react";
import type { InputHTMLAttributes, ReactNode, SelectHTMLAttributes } from "react";
import { classes } from "./classes.ts";

export const INPUT_CLASSES = classes(
  "h-9 w-full min-w-0 rounded-md border border-line-strong bg-surface px-3 text-sm text-ink",
  "disabled:opacity-60 aria-invalid:border-danger",
);

type FieldProps = {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly fault?: string | null;
  readonly children: (ids: {
    readonly id: string;
    readonly "aria-describedby": string | undefined;
    readonly "aria-invalid": boolean | undefined;
  }) => ReactNode;
};

/** A labelled control with what explains it and what is wrong with it. */
export function Field({ label, hint, fault, children }: FieldProps) {
  const id = useId();
  const has = { hint: hint !== undefined && hint !== null, fault: typeof fault === "string" };
  const described = classes(has.hint && `${id}-hint`, has.fault && `${id}-fault`);
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children({
        id,
        "aria-describedby": described === "" ? undefined : described,
        "aria-invalid": has.fault ? true : undefined,
      })}
      {has.hint ? (
        <p id={`${id}-hint`} className="text-xs text-quiet">
          {hint}
        </p>
      ) : null}
      {has.fault ? (
        <p id={`${id}-fault`} className="text-xs text-danger">
          {fault}
        </p>
      ) : null}
    </div>
  );
}

type TextFieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, "onChange" | "value"> & {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly fault?: string | null;
  readonly value: string;
  readonly onValue: (value: string) => void;
};

export function TextField({ label, hint, fault, onValue, className, ...rest }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} fault={fault ?? null}>
      {(ids) => (
        <input
          {...rest}
          {...ids}
          dir={rest.dir ?? "auto"}
          className={classes(INPUT_CLASSES, className)}
          onChange={(event) => onValue(event.target.value)}
        />
      )}
    </Field>
  );
}

type SelectProps = Omit<SelectHTMLAttributes<HTMLSelectElement>, "onChange" | "value"> & {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly options: readonly { readonly value: string; readonly label: string }[];
};

/** The platform's own list of choices: it works with any keyboard, reader and screen. */
export function Select({ options, onValue, className, ...rest }: SelectProps) {
  return (
    <span className={classes("relative inline-flex min-w-0", className)}>
      <select
        {...rest}
        onChange={(event) => onValue(event.target.value)}
        className={classes(INPUT_CLASSES, "appearance-none truncate pr-8")}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} className="bg-surface">
            {option.label}
          </option>
        ))}
      </select>
      <span
        aria-hidden
        className="pointer-events-none absolute inset-y-0 right-3 flex items-center text-xs text-quiet"
      >
        ▾
      </span>
    </span>
  );
}

type CheckProps = {
  readonly label: ReactNode;
  readonly checked: boolean;
  readonly onChecked: (checked: boolean) => void;
  readonly disabled?: boolean;
};

export function Check({ label, checked, onChecked, disabled = false }: CheckProps) {
  return (
    <label className="inline-flex items-center gap-2 text-sm">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChecked(event.target.checked)}
        className="size-4 accent-accent"
      />
      {label}
    </label>
  );
}
