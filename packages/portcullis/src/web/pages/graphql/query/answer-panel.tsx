import type { JSX } from 'preact'
import type { GraphqlAnswer } from '../../../../console/routes/graphql-query.ts'
import { toMessage } from '../../../api.ts'
import { Badge } from '../../../components/badge.tsx'
import { CopyButton } from '../../../components/button.tsx'
import { Empty, Notice } from '../../../components/states.tsx'
import { isLimitHeader, toPretty, toStatusTone } from '../../../graphql-answer.ts'

interface AnswerPanelProps {
  readonly answer: GraphqlAnswer | undefined
  readonly error: unknown
}

/** The response to the last query. */
export function AnswerPanel({ answer, error }: AnswerPanelProps): JSX.Element {
  if (error !== undefined) return <Notice tone="danger">{toMessage(error)}</Notice>
  if (answer === undefined) {
    return (
      <Empty icon="graphql" title="No response yet">
        Send the query with Ctrl+Enter.
      </Empty>
    )
  }
  const { status, durationMs, headers, text } = answer
  const body = toPretty(text)
  return (
    <div class="stack tight" role="status">
      <div class="row tight">
        <Badge tone={toStatusTone(status)}>{`Status ${status}`}</Badge>
        <span class="muted small">{`${durationMs.toFixed(0)} ms, ${toSize(text)}`}</span>
        <CopyButton text={body} />
      </div>
      <LimitHeaders headers={headers.filter(isLimitHeader)} />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the text scrolls */}
      <pre class="code-block query-answer" tabIndex={0} aria-label="Response body">
        {body}
      </pre>
      <details class="query-headers">
        <summary>{`All ${headers.length} response headers`}</summary>
        <HeaderList headers={headers} />
      </details>
    </div>
  )
}

function LimitHeaders({ headers }: { readonly headers: GraphqlAnswer['headers'] }): JSX.Element {
  if (headers.length === 0) {
    return <p class="muted small">The response has no rate limit headers.</p>
  }
  return (
    <section aria-label="Rate limit headers">
      <HeaderList headers={headers} />
    </section>
  )
}

function HeaderList({ headers }: { readonly headers: GraphqlAnswer['headers'] }): JSX.Element {
  return (
    <dl class="query-header-list mono">
      {headers.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function toSize(text: string): string {
  const bytes = new TextEncoder().encode(text).length
  return bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`
}
