import type { ComponentChildren, JSX } from 'preact'

export interface CardProps {
  readonly title?: string
  readonly actions?: ComponentChildren
  /** For tables and lists without padding. */
  readonly isFlush?: boolean
  readonly children: ComponentChildren
}

export function Card({ title, actions, isFlush = false, children }: CardProps): JSX.Element {
  return (
    <section class="card" aria-label={title}>
      {title !== undefined && (
        <header>
          <h2>{title}</h2>
          {actions && <div class="row tight">{actions}</div>}
        </header>
      )}
      {isFlush ? children : <div class="body">{children}</div>}
    </section>
  )
}
