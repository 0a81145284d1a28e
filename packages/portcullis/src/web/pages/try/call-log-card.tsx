import type { JSX } from 'preact'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { formatNumber } from '../../format.ts'
import { clearCalls, useCalls } from './call-log.ts'

/** People learn the API from what they see it do. */
export function CallLogCard(): JSX.Element {
  const calls = useCalls()
  const clear = calls.length > 0 && (
    <Button kind="quiet" size="small" onClick={clearCalls}>
      Clear
    </Button>
  )
  return (
    <Card title="Calls made" actions={clear} isFlush>
      {calls.length === 0 && (
        <p class="try-no-calls muted small">
          Every call to the auth server and to the GraphQL API appears here.
        </p>
      )}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- who has no mouse scrolls it by keys. */}
      <ol class="try-calls" aria-label="Calls, the newest first" tabIndex={0}>
        {calls.map(({ id, method, part, path, status, durationMs, count }) => (
          <li key={id}>
            <Badge tone={toTone(status)}>{status === 0 ? 'none' : status}</Badge>
            <span class="try-call mono">
              <strong>{method}</strong> <span title={path}>{path}</span>
            </span>
            <span class="try-call-more muted small number">
              {part}
              {count > 1 && <strong> ×{count}</strong>}, {formatNumber(Math.round(durationMs))} ms
            </span>
          </li>
        ))}
      </ol>
    </Card>
  )
}

function toTone(status: number): Tone {
  if (status === 0 || status >= 500) return 'danger'
  return status >= 400 ? 'warn' : 'ok'
}
