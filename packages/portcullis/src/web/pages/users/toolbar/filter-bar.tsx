import type { JSX } from 'preact'
import { callApi } from '../../../api.ts'
import { Button } from '../../../components/button.tsx'
import { Field } from '../../../components/field.tsx'
import { Icon } from '../../../components/icons.tsx'
import { useLoaded } from '../../../use-loaded.ts'
import { type UsersAddress, withoutFilters } from '../use-users-address.ts'
import { type Filter, filters, toAppliedFilters } from './filters.ts'

interface FilterBarProps {
  readonly id: string
  readonly address: UsersAddress
}

/** The controls of all filters. */
export function FilterBar({ id, address }: FilterBarProps): JSX.Element {
  return (
    <fieldset id={id} class="card user-filters">
      <legend class="hidden">Filters</legend>
      {filters.map((filter) => (
        <FilterField key={filter.name} filter={filter} address={address} />
      ))}
    </fieldset>
  )
}

interface FilterFieldProps {
  readonly filter: Filter
  readonly address: UsersAddress
}

function FilterField({ filter, address }: FilterFieldProps): JSX.Element {
  const { kind, name, label } = filter
  const value = address.search.filters[name] ?? ''
  const change = (changed: string) => address.go({ [name]: changed }, { isReplacing: true })
  if (kind === 'provider') {
    return <ProviderField label={label} value={value} onChange={change} />
  }
  if (kind === 'date') {
    return (
      <Field label={label}>
        <input
          type="date"
          class="input"
          value={value}
          onChange={(event) => change(event.currentTarget.value)}
        />
      </Field>
    )
  }
  const [yes, no] = filter.words
  return (
    <Field label={label}>
      <select class="input" value={value} onChange={(event) => change(event.currentTarget.value)}>
        <option value="">Any</option>
        <option value="true">{yes}</option>
        <option value="false">{no}</option>
      </select>
    </Field>
  )
}

interface ProviderFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}

/** The public settings of the auth server. */
interface Settings {
  readonly external?: Readonly<Record<string, boolean>>
}

/** Lists the enabled providers first. The others may have been enabled earlier, and still have users. */
function ProviderField({ label, value, onChange }: ProviderFieldProps): JSX.Element {
  const loaded = useLoaded((signal) => callApi<Settings>('/auth/settings', { signal }), [])
  const { external = {} } = loaded.state === 'ready' ? loaded.value : {}
  const names = Object.keys(external).filter((name) => name !== 'anonymous_users')
  const enabled = names.filter((name) => external[name])
  const others = names.filter((name) => !external[name])
  const isListed = value === '' || names.includes(value)
  return (
    <Field label={label}>
      <select class="input" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">Any</option>
        {!isListed && <option value={value}>{value}</option>}
        <ProviderOptions label="Enabled" names={enabled} />
        <ProviderOptions label="Not enabled" names={others} />
      </select>
    </Field>
  )
}

interface ProviderOptionsProps {
  readonly label: string
  readonly names: readonly string[]
}

function ProviderOptions({ label, names }: ProviderOptionsProps): JSX.Element | null {
  if (names.length === 0) return null
  return (
    <optgroup label={label}>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </optgroup>
  )
}

/** The filters that apply, each with a button that removes it. */
export function AppliedFilters({
  address,
}: {
  readonly address: UsersAddress
}): JSX.Element | null {
  const applied = toAppliedFilters(address.search.filters)
  if (applied.length === 0) return null
  return (
    <ul class="row tight user-applied" aria-label="Applied filters">
      {applied.map(({ name, label, text }) => (
        <li key={name}>
          <button
            type="button"
            class="user-chip"
            aria-label={`Remove filter ${label}: ${text}`}
            onClick={() => address.go({ [name]: '' }, { isReplacing: true })}
          >
            {label}: <strong>{text}</strong>
            <Icon name="close" />
          </button>
        </li>
      ))}
      <li>
        <Button
          kind="quiet"
          size="small"
          onClick={() => address.go(withoutFilters, { isReplacing: true })}
        >
          Clear filters
        </Button>
      </li>
    </ul>
  )
}
