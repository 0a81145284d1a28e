import type { ComponentChildren, JSX } from 'preact'
import { toMessage } from '../api.ts'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icons.tsx'

export interface EmptyProps {
  readonly icon: IconName
  readonly title: string
  /** What the user can do about it. */
  readonly children?: ComponentChildren
}

export function Empty({ icon, title, children }: EmptyProps): JSX.Element {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children && <p>{children}</p>}
    </div>
  )
}

export interface FailureProps {
  readonly error: unknown
  /** If it returns a promise, the button is disabled until the promise settles. */
  readonly onRetry?: () => unknown
}

export function Failure({ error, onRetry }: FailureProps): JSX.Element {
  return (
    <div class="empty" role="alert">
      <Icon name="alert" />
      <h2>Something went wrong</h2>
      <p>{toMessage(error)}</p>
      {onRetry && (
        <Button icon="refresh" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

export function Loading({ children = 'Loading…' }: { readonly children?: string }): JSX.Element {
  return (
    <div class="loading" role="status">
      <span class="spinner" />
      {children}
    </div>
  )
}

export interface NoticeProps {
  readonly tone?: 'ok' | 'warn' | 'danger' | 'accent'
  readonly title?: string
  readonly children?: ComponentChildren
}

/** A message beside its subject. Screen readers announce errors at once. */
export function Notice({ tone, title, children }: NoticeProps): JSX.Element {
  return (
    <div
      class={tone ? `notice tone-${tone}` : 'notice'}
      role={tone === 'danger' ? 'alert' : 'status'}
    >
      {title !== undefined && <strong>{title} </strong>}
      {children}
    </div>
  )
}

const reason = new Error(
  'The page could not be loaded. The console was stopped, or was restarted after this window was opened. Check that it is running.',
)

/** Shown if the code of a page cannot be loaded. */
export function PageNotLoaded(): JSX.Element {
  return <Failure error={reason} onRetry={() => location.reload()} />
}
