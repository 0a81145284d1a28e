import type { ComponentChildren, JSX } from 'preact'
import { ApiError } from '../../api.ts'
import { Field } from '../../components/field.tsx'

interface CheckProps {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly isChecked: boolean
  /** With a value, several checkboxes have the same name. */
  readonly value?: string
}

export function Check({ name, label, hint, isChecked, value }: CheckProps): JSX.Element {
  return (
    <label class="choice">
      <input
        name={name}
        type="checkbox"
        defaultChecked={isChecked}
        {...(value !== undefined && { value })}
      />
      <span>
        {label}
        {hint !== undefined && <span class="hint">{hint}</span>}
      </span>
    </label>
  )
}

interface ChoicesProps<Value extends string> {
  readonly legend: string
  readonly name: string
  readonly choices: readonly {
    readonly value: Value
    readonly title: string
    readonly hint: string
  }[]
  readonly chosen: Value
  readonly onChoose: (value: Value) => void
}

/** One of several, on which other fields depend. */
export function Choices<Value extends string>(props: ChoicesProps<Value>): JSX.Element {
  const { legend, name, choices, chosen, onChoose } = props
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      {choices.map(({ value, title, hint }) => (
        <label key={value} class="choice">
          <input
            type="radio"
            name={name}
            value={value}
            checked={value === chosen}
            onChange={() => onChoose(value)}
          />
          <span>
            {title}
            <span class="hint">{hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

interface MoreFieldsProps {
  readonly title: string
  readonly children: ComponentChildren
}

/** Fields that most forms leave as they are. */
export function MoreFields({ title, children }: MoreFieldsProps): JSX.Element {
  return (
    <details class="access-fields">
      <summary>{title}</summary>
      <div class="stack">{children}</div>
    </details>
  )
}

const overlaps = [
  { seconds: 0, title: 'At once' },
  { seconds: 3_600, title: 'After an hour' },
  { seconds: 86_400, title: 'After a day' },
  { seconds: 604_800, title: 'After 7 days' },
  { seconds: 2_592_000, title: 'After 30 days' },
] as const

const usualOverlap = 86_400

/** Asks until when the previous secret is accepted. */
export function OverlapField({ what }: { readonly what: string }): JSX.Element {
  return (
    <Field
      label={`The previous ${what} ends`}
      hint="Until then both are accepted, so that you can replace it without an interruption."
    >
      <select name="overlap_seconds" class="input">
        {overlaps.map(({ seconds, title }) => (
          <option key={seconds} value={seconds} selected={seconds === usualOverlap}>
            {title}
          </option>
        ))}
      </select>
    </Field>
  )
}

/**
 * Returns a function that finds the field of an error of the auth server by its message.
 * @param patterns by the names of the fields; the first that matches counts.
 */
export function createFieldFinder(
  patterns: Readonly<Record<string, RegExp>>,
): (error: unknown) => string | undefined {
  return (error) => {
    if (!(error instanceof ApiError)) return undefined
    return Object.entries(patterns).find(([, pattern]) => pattern.test(error.message))?.[0]
  }
}
