import type { JSX } from 'preact'
import { Badge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { formatAge } from '../../../format.ts'
import { toStatusTone } from '../../../graphql-answer.ts'
import type { PastQuery } from './history.ts'

interface HistoryListProps {
  readonly history: readonly PastQuery[]
  readonly onPick: (past: PastQuery) => void
  readonly onClear: () => void
}

/** The queries that this browser has sent, newest first. */
export function HistoryList({ history, onPick, onClear }: HistoryListProps): JSX.Element {
  if (history.length === 0) {
    return <p class="muted small">Queries that you send are kept in this browser.</p>
  }
  return (
    <div class="stack tight">
      <ul class="query-history">
        {history.map((past) => (
          <li key={`${past.at} ${past.query}`}>
            <button type="button" class="query-past" onClick={() => onPick(past)}>
              <Badge tone={toStatusTone(past.status)}>{past.status}</Badge>
              <code>{toLine(past.query)}</code>
              <span class="muted small">{formatAge(new Date(past.at).toISOString())}</span>
            </button>
          </li>
        ))}
      </ul>
      <div class="row">
        <Button size="small" icon="trash" onClick={onClear}>
          Clear history
        </Button>
      </div>
    </div>
  )
}

/** The query on one line, without comments. */
function toLine(query: string): string {
  return query
    .replaceAll(/#[^\n]*/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
