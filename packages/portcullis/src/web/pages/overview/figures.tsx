import type { ComponentChildren, JSX } from 'preact'
import { formatNumber } from '../../format.ts'

/** Numbers that tell most of it, above the line that tells the rest. */
export function Figures({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <dl class="figures">{children}</dl>
}

export interface FigureProps {
  readonly name: string
  /** Undefined: nobody knows. */
  readonly value: number | undefined
  readonly unit?: string
  readonly note?: string | undefined
  readonly tone?: 'series-1' | 'series-2' | 'danger'
}

export function Figure({ name, value, unit, note, tone }: FigureProps): JSX.Element {
  return (
    <div class={tone === undefined ? undefined : `figure-${tone}`}>
      <dt class="small">{name}</dt>
      <dd class="figure-value">
        {value === undefined ? '–' : formatNumber(value)}
        {unit !== undefined && value !== undefined && <span class="unit">{unit}</span>}
      </dd>
      {note !== undefined && <dd class="small muted">{note}</dd>}
    </div>
  )
}
