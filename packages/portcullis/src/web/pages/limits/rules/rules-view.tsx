import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { CounterFailure, CounterUpdate, RuleBook } from '../../../../console/routes/limits.ts'
import { callApi } from '../../../api.ts'
import { Card } from '../../../components/card.tsx'
import { LiveBadge } from '../../../components/live-badge.tsx'
import { Empty, Failure, Loading, Notice } from '../../../components/states.tsx'
import { useSearchShortcut } from '../../../shortcuts.ts'
import { useEventStream } from '../../../use-event-stream.ts'
import { useLoaded } from '../../../use-loaded.ts'
import { DecisionPanel } from '../decision/decision-panel.tsx'
import { LimitDialog } from './limit-dialog.tsx'
import { RuleHistory } from './rule-history.tsx'
import { type RuleRow, toDomainRows } from './rule-rows.ts'
import { RuleTable } from './rule-table.tsx'

export function RulesView({ canRequest }: { readonly canRequest: boolean }): JSX.Element {
  const book = useLoaded((signal) => callApi<RuleBook>('/api/limits/rules', { signal }), [])
  const live = useLiveCounters()
  const [picked, setPicked] = useState<RuleRow>()
  const { reload } = book

  // Reload when the service has loaded other rules, or responds again.
  const state = live.failure === undefined ? live.update?.loads : 'failed'
  const lastState = useRef(state)
  useEffect(() => {
    const isNew = lastState.current !== undefined && state !== lastState.current
    if (isNew && state !== 'failed') reload()
    lastState.current = state
  }, [state, reload])

  if (book.state === 'loading') return <Loading>Loading rules…</Loading>
  if (book.state === 'failed') return <Failure error={book.error} onRetry={reload} />
  const domains = book.value.domains.map(({ domain }) => domain)
  return (
    <div class="limits-rules">
      <RuleCard book={book.value} live={live} onPick={setPicked} />
      <DecisionPanel canRequest={canRequest} domains={domains} picked={picked} />
    </div>
  )
}

interface RuleCardProps {
  readonly book: RuleBook
  readonly live: ReturnType<typeof useLiveCounters>
  readonly onPick: (row: RuleRow) => void
}

function RuleCard({ book, live, onPick }: RuleCardProps): JSX.Element {
  const [search, setSearch] = useState('')
  const [historyOf, setHistoryOf] = useState<RuleRow>()
  const [changing, setChanging] = useState<RuleRow>()
  const field = useSearchShortcut('Search rules')
  // Counters change every second, rules rarely.
  const rows = useMemo(() => toDomainRows(book, search), [book, search])
  const notice = book.notice ?? (live.failure && `The counters are not updated. ${live.failure}`)
  return (
    <Card
      title="Rules"
      isFlush
      actions={
        <>
          <input
            ref={field}
            aria-keyshortcuts="/"
            class="input limits-search"
            type="search"
            aria-label="Search rules"
            placeholder="Search rules"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
          <LiveBadge isLive={live.isLive} />
        </>
      }
    >
      {notice && (
        <div class="limits-notice">
          <Notice tone="warn">{notice}</Notice>
        </div>
      )}
      {book.domains.length === 0 && (
        <Empty icon="limits" title="No rules">
          {toAbsence(book)}
        </Empty>
      )}
      {book.domains.length > 0 && rows.length === 0 && (
        <Empty icon="search" title="No matching rules">
          {`No rule contains “${search}” in its keys, values or limit. Try another search.`}
        </Empty>
      )}
      {rows.length > 0 && (
        <RuleTable
          domains={rows}
          counts={live.update?.rules ?? {}}
          isSearching={search.trim() !== ''}
          canEdit={book.source === 'files'}
          onPick={onPick}
          onHistory={setHistoryOf}
          onChange={setChanging}
        />
      )}
      {changing && <LimitDialog row={changing} onClose={() => setChanging(undefined)} />}
      {historyOf && <RuleHistory row={historyOf} onClose={() => setHistoryOf(undefined)} />}
    </Card>
  )
}

function toAbsence({ source, notice }: RuleBook): ComponentChildren {
  if (source === 'files') {
    return (
      <>
        Without rules every request is allowed. Create a file under{' '}
        <a href="/limits?view=files">Rule files</a>; it takes effect at once.
      </>
    )
  }
  return notice === undefined
    ? 'The service has no rules, so it allows every request.'
    : 'Until it has loaded valid rules, the service answers every request with an error. Fix the file; its rules take effect at once.'
}

interface LiveUpdate {
  readonly update: CounterUpdate | undefined
  /** Why the counters are not updated. */
  readonly failure: string | undefined
  readonly isLive: boolean
}

/** Receives the counters while the page is shown. */
function useLiveCounters(): LiveUpdate {
  const [update, setUpdate] = useState<CounterUpdate>()
  const [failure, setFailure] = useState<string>()
  const stream = useEventStream('/api/limits/counters', {
    counters: (latest: CounterUpdate) => {
      setUpdate(latest)
      setFailure(undefined)
    },
    failure: ({ message }: CounterFailure) => setFailure(message),
  })
  return {
    update,
    failure,
    isLive: stream === 'open' && update !== undefined && failure === undefined,
  }
}
