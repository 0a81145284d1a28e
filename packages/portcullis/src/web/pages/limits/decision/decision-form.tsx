import type { JSX, TargetedSubmitEvent } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { DecisionRequest } from '../../../../console/routes/limits.ts'
import { Button } from '../../../components/button.tsx'
import { Field } from '../../../components/field.tsx'
import type { RuleRow } from '../rules/rule-rows.ts'

interface DecisionFormProps {
  readonly request: RequestDraft
  /** Suggestions; other domains can be entered too. */
  readonly domains: readonly string[]
  readonly onChange: (request: RequestDraft) => void
  readonly onSubmit: () => Promise<void>
}

export function DecisionForm(props: DecisionFormProps): JSX.Element {
  const { request, domains, onChange, onSubmit } = props
  const { domain, descriptors, hits, isDryRun } = request
  const [isBusy, setBusy] = useState(false)
  const listId = useId()
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    setBusy(true)
    await onSubmit()
    setBusy(false)
  }
  const setDescriptors = (next: RequestDraft['descriptors']) =>
    onChange({ ...request, descriptors: next })
  return (
    <form class="stack limits-form" onSubmit={submit}>
      <Field label="Domain">
        <input
          class="input mono"
          required
          list={listId}
          autocomplete="off"
          value={domain}
          onInput={(event) => onChange({ ...request, domain: event.currentTarget.value })}
        />
      </Field>
      <datalist id={listId}>
        {domains.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {descriptors.map((entries, at) => (
        <DescriptorFields
          // Descriptors have no ids, so their position is the key.
          key={at}
          legend={descriptors.length === 1 ? 'Descriptor' : `Descriptor ${at + 1}`}
          entries={entries}
          onChange={(next) => setDescriptors(descriptors.with(at, next))}
          onAdd={
            at === descriptors.length - 1
              ? () => setDescriptors([...descriptors, [emptyEntry]])
              : undefined
          }
          onRemove={
            descriptors.length === 1
              ? undefined
              : () => setDescriptors(descriptors.toSpliced(at, 1))
          }
        />
      ))}
      <div class="row">
        <label class="limits-hits">
          <span>Hits</span>
          <input
            class="input number"
            type="number"
            min={1}
            max={4294967295}
            required
            disabled={isDryRun}
            value={hits}
            onInput={(event) => onChange({ ...request, hits: event.currentTarget.valueAsNumber })}
          />
        </label>
        <label class="limits-check">
          <input
            type="checkbox"
            checked={isDryRun}
            onInput={(event) => onChange({ ...request, isDryRun: event.currentTarget.checked })}
          />
          Dry run
        </label>
        <span class="grow" />
        <Button type="submit" kind="primary" isDisabled={isBusy}>
          Send
        </Button>
      </div>
    </form>
  )
}

interface DescriptorFieldsProps {
  readonly legend: string
  readonly entries: readonly EntryDraft[]
  readonly onChange: (entries: readonly EntryDraft[]) => void
  /** Undefined if no descriptor can be added here. */
  readonly onAdd: (() => void) | undefined
  /** Undefined if it is the only descriptor. */
  readonly onRemove: (() => void) | undefined
}

function DescriptorFields(props: DescriptorFieldsProps): JSX.Element {
  const { legend, entries, onChange, onAdd, onRemove } = props
  const set = (at: number, entry: EntryDraft) => onChange(entries.with(at, entry))
  return (
    <fieldset class="limits-descriptor">
      <legend>{legend}</legend>
      {entries.map((entry, at) => (
        <div key={at} class="limits-entry">
          <input
            class="input mono"
            required
            autocomplete="off"
            aria-label={`Key ${at + 1}`}
            placeholder="key"
            value={entry.key}
            onInput={(event) => set(at, { ...entry, key: event.currentTarget.value })}
          />
          <input
            class="input mono"
            autocomplete="off"
            data-field="value"
            aria-label={`Value ${at + 1}`}
            placeholder="value"
            value={entry.value}
            onInput={(event) => set(at, { ...entry, value: event.currentTarget.value })}
          />
          <Button
            kind="quiet"
            size="small"
            icon="close"
            label={`Remove entry ${at + 1}`}
            isDisabled={entries.length === 1}
            onClick={() => onChange(entries.toSpliced(at, 1))}
          >
            {''}
          </Button>
        </div>
      ))}
      <div class="row tight">
        <Button
          kind="quiet"
          size="small"
          icon="plus"
          label="Add entry"
          onClick={() => onChange([...entries, emptyEntry])}
        >
          Add entry
        </Button>
        {onAdd && (
          <Button kind="quiet" size="small" icon="plus" label="Add descriptor" onClick={onAdd}>
            Add descriptor
          </Button>
        )}
        {onRemove && (
          <Button
            kind="quiet"
            size="small"
            icon="trash"
            label={`Remove ${legend}`}
            onClick={onRemove}
          >
            Remove
          </Button>
        )}
      </div>
    </fieldset>
  )
}

interface EntryDraft {
  readonly key: string
  readonly value: string
}

/** The state of the form. */
export interface RequestDraft {
  readonly domain: string
  readonly descriptors: readonly (readonly EntryDraft[])[]
  readonly hits: number
  /** Reads the counters without changing them. */
  readonly isDryRun: boolean
}

const emptyEntry: EntryDraft = { key: '', value: '' }
export const emptyRequest: RequestDraft = {
  domain: '',
  descriptors: [[emptyEntry]],
  hits: 1,
  isDryRun: false,
}

/** Returns entries that match the rule, with example values for any value. */
export function toExampleEntries({ levels }: RuleRow): EntryDraft[] {
  return levels.map(({ key, value }) => ({
    key,
    value: value === '' ? 'example' : value.replaceAll('*', 'example'),
  }))
}

export function toDecisionRequest(draft: RequestDraft): DecisionRequest {
  const { domain, descriptors, hits, isDryRun } = draft
  return {
    domain,
    descriptors: descriptors.map((entries) => ({ entries })),
    hits: isDryRun ? 0 : hits,
  }
}
