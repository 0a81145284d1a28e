import type { JSX } from 'preact'
import type { AuditExchange } from '../../../console/routes/audits-exchange.ts'

export interface AuditFailureProps {
  readonly id: string
  readonly name: string
  readonly tone: 'danger' | 'warn' | 'accent'
  readonly reason: string
  /** There once the run has ended. */
  readonly exchange: AuditExchange | undefined
}

export function AuditFailure({ id, name, tone, reason, exchange }: AuditFailureProps): JSX.Element {
  return (
    <li class={`audit-failure tone-${tone}`}>
      <div class="audit-name">
        <code>{id}</code>
        <strong>{name}</strong>
      </div>
      <p>{reason}</p>
      {exchange && (
        <details>
          <summary>Request and response ({exchange.status})</summary>
          <div class="grid" style={{ '--least': '18rem' }}>
            <Text title="Sent" text={exchange.request} />
            <Text title="Received" text={exchange.response} />
          </div>
        </details>
      )}
    </li>
  )
}

function Text({ title, text }: { readonly title: string; readonly text: string }): JSX.Element {
  return (
    <div class="stack tight">
      <h4>{title}</h4>
      <pre class="code-block">{text}</pre>
    </div>
  )
}
