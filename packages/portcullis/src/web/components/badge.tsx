import type { ComponentChildren, JSX } from 'preact'

export type Tone = 'ok' | 'warn' | 'danger' | 'accent'

export interface BadgeProps {
  readonly tone?: Tone | undefined
  /** For lasting states, such as health. */
  readonly hasDot?: boolean
  readonly children: ComponentChildren
}

export function Badge({ tone, hasDot = false, children }: BadgeProps): JSX.Element {
  const names = ['badge', tone && `tone-${tone}`, hasDot && 'dot']
  return <span class={names.filter(Boolean).join(' ')}>{children}</span>
}
