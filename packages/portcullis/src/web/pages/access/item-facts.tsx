import type { ComponentChildren, JSX } from 'preact'
import { CopyButton } from '../../components/button.tsx'
import { formatAge, formatTime } from '../../format.ts'

export function Facts({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <dl class="access-facts">{children}</dl>
}

interface FactProps {
  readonly name: string
  readonly children: ComponentChildren
}

export function Fact({ name, children }: FactProps): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** A text that is needed elsewhere, such as an address or an id. */
export function CopyFact({
  name,
  value,
}: {
  readonly name: string
  readonly value: string
}): JSX.Element {
  return (
    <Fact name={name}>
      <span class="access-copy">
        <span class="mono">{value}</span>
        <CopyButton text={value} label={`Copy ${toLower(name)}`} />
      </span>
    </Fact>
  )
}

/** Keeps abbreviations such as `ACS URL`. */
function toLower(name: string): string {
  return /^[A-Z]{2}/.test(name) ? name : name.charAt(0).toLowerCase() + name.slice(1)
}

interface AgeProps {
  readonly time: string | null | undefined
  /** Shown without a time. */
  readonly none?: string
}

export function Age({ time, none = 'never' }: AgeProps): JSX.Element {
  if (!time) return <span class="muted">{none}</span>
  return (
    <time dateTime={time} title={formatTime(time)}>
      {formatAge(time)}
    </time>
  )
}

interface BackProps {
  readonly href: string
  readonly children: ComponentChildren
}

/** The link from an item back to its list. */
export function Back({ href, children }: BackProps): JSX.Element {
  return (
    <a class="access-back" href={href}>
      {children}
    </a>
  )
}
