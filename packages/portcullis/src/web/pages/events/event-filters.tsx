import type { JSX } from 'preact'
import { actionChoices, reasonChoices } from '../../audit-sentences.ts'
import { Field } from '../../components/field.tsx'
import { SearchField } from '../../components/search-field.tsx'
import type { EventsAddress } from './use-events-address.ts'

interface FiltersProps {
  readonly address: EventsAddress
}

const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i
const pauseMs = 300

/** Every filter is in the page's URL. A change shows the newest events again. */
export function EventFilters({ address }: FiltersProps): JSX.Element {
  const { values } = address
  const change = (changes: Parameters<EventsAddress['go']>[0]) =>
    address.go({ before: '', ...changes }, { isReplacing: true })
  return (
    <div class="event-filters">
      <SearchField
        text={values.user ?? values.name ?? ''}
        label="User"
        placeholder="Email, phone or user ID"
        pauseMs={pauseMs}
        class="event-search"
        onSearch={(text) =>
          change(uuid.test(text) ? { user: text, name: '' } : { user: '', name: text })
        }
      />
      {/*
        Applied with Enter or when it loses the focus: a part of an address is not an address. Until then the field
        has its own state, because new events render the page while someone types.
      */}
      <input
        key={values.address}
        class="input event-address"
        type="search"
        aria-label="IP address"
        placeholder="IP address"
        autocomplete="off"
        spellcheck={false}
        defaultValue={values.address ?? ''}
        onChange={(event) => change({ address: event.currentTarget.value.trim() })}
      />
      <KindChoice address={address} onChange={change} />
      <TimeChoice address={address} onChange={change} />
      <label class="event-check">
        <input
          type="checkbox"
          checked={values.tokens === 'true'}
          onChange={(event) => change({ tokens: event.currentTarget.checked ? 'true' : '' })}
        />
        Token refreshes
      </label>
    </div>
  )
}

interface ChoiceProps extends FiltersProps {
  readonly onChange: (changes: Parameters<EventsAddress['go']>[0]) => void
}

function KindChoice({ address: { values }, onChange }: ChoiceProps): JSX.Element {
  const { action, reason, failed } = values
  const chosen = action ? `action ${action}` : reason ? `reason ${reason}` : failed ? 'failed' : ''
  const choose = (kind: string) => {
    const [name = '', value = 'true'] = kind.split(' ')
    const none = { action: '', reason: '', failed: '' }
    onChange(name === '' ? none : { ...none, [name]: value })
  }
  return (
    <select
      class="input"
      aria-label="Event"
      value={chosen}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      <option value="">All events</option>
      <option value="failed">Failed sign-ins</option>
      <optgroup label="Failed sign-ins by reason">
        {reasonChoices.map(({ name, text }) => (
          <option key={name} value={`reason ${name}`}>
            {text}
          </option>
        ))}
      </optgroup>
      <optgroup label="Actions">
        {actionChoices.map(({ name, text }) => (
          <option key={name} value={`action ${name}`}>
            {text}
          </option>
        ))}
      </optgroup>
    </select>
  )
}

const times = [
  ['', 'Any time'],
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['range', 'From … to …'],
] as const

function TimeChoice({ address: { values }, onChange }: ChoiceProps): JSX.Element {
  const { since = '', from = '', to = '' } = values
  const chosen = from !== '' || to !== '' ? 'range' : since
  return (
    <>
      <select
        class="input"
        aria-label="Time"
        value={chosen}
        onChange={(event) => onChange({ since: event.currentTarget.value, from: '', to: '' })}
      >
        {times.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
      {chosen === 'range' && (
        <div class="event-range">
          <TimeField label="From" time={from} onTime={(time) => onChange({ from: time })} />
          <TimeField label="To" time={to} onTime={(time) => onChange({ to: time })} />
        </div>
      )}
    </>
  )
}

interface TimeFieldProps {
  readonly label: string
  /** As in the URL, in UTC. */
  readonly time: string
  readonly onTime: (time: string) => void
}

function TimeField({ label, time, onTime }: TimeFieldProps): JSX.Element {
  const change = (text: string) => {
    const date = new Date(text)
    if (text === '') onTime('')
    else if (!Number.isNaN(date.getTime())) onTime(date.toISOString())
  }
  return (
    <Field label={label}>
      <input
        class="input"
        type="datetime-local"
        step="1"
        value={toLocalTime(time)}
        onChange={(event) => change(event.currentTarget.value)}
      />
    </Field>
  )
}

/** The local time, in the form of the input: `2026-03-04T00:00:00`. */
function toLocalTime(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return ''
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 19)
}
