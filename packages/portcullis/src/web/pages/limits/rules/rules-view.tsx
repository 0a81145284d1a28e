import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { CounterNews, CounterTrouble, RuleBook } from '../../../../console/routes/limits.ts'
import { callApi } from '../../../api.ts'
import { Badge } from '../../../components/badge.tsx'
import { Card } from '../../../components/card.tsx'
import { Empty, Failure, Loading, Notice } from '../../../components/states.tsx'
import { useEventStream } from '../../../use-event-stream.ts'
import { useLoaded } from '../../../use-loaded.ts'
import { DecisionPanel } from '../decision/decision-panel.tsx'
import { type RuleRow, toDomainRows } from './rule-rows.ts'
import { RuleTable } from './rule-table.tsx'

export function RulesView({ canAsk }: { readonly canAsk: boolean }): JSX.Element {
  const book = useLoaded((signal) => callApi<RuleBook>('/api/limits/rules', { signal }), [])
  const live = useLiveCounters()
  const [picked, setPicked] = useState<RuleRow>()
  const { reload } = book

  // Other rules are in force, by our hand or by anybody's; or the service answers again.
  const state = live.trouble === undefined ? live.news?.loads : 'trouble'
  const lastState = useRef(state)
  useEffect(() => {
    const isNew = lastState.current !== undefined && state !== lastState.current
    if (isNew && state !== 'trouble') reload()
    lastState.current = state
  }, [state, reload])

  if (book.state === 'loading') return <Loading>Reading the rules…</Loading>
  if (book.state === 'failed') return <Failure error={book.error} onRetry={reload} />
  const domains = book.value.domains.map(({ domain }) => domain)
  return (
    <div class="limits-rules">
      <RuleCard book={book.value} live={live} onPick={setPicked} />
      <DecisionPanel canAsk={canAsk} domains={domains} picked={picked} />
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
  // The counters come every second, and the rules seldom.
  const rows = useMemo(() => toDomainRows(book, search), [book, search])
  const notice = book.notice ?? (live.trouble && `The counters stand still. ${live.trouble}`)
  return (
    <Card
      title="Rules"
      isFlush
      actions={
        <>
          <input
            class="input limits-search"
            type="search"
            aria-label="Search rules"
            placeholder="Search rules"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
          <Badge tone={live.isLive ? 'ok' : 'warn'} hasDot>
            {live.isLive ? 'Live' : 'Waiting'}
          </Badge>
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
        <Empty icon="search" title="Nothing found">
          {`No rule has “${search}” in its keys, its values or its limit.`}
        </Empty>
      )}
      {rows.length > 0 && (
        <RuleTable
          domains={rows}
          counts={live.news?.rules ?? {}}
          isSearching={search.trim() !== ''}
          canEdit={book.source === 'files'}
          onPick={onPick}
        />
      )}
    </Card>
  )
}

function toAbsence({ source, notice }: RuleBook): string {
  if (source === 'files') {
    return 'Without rules every request is let in. Add a rule file, and it is in force at once.'
  }
  return notice === undefined
    ? 'The service has none, so it lets every request in.'
    : 'A service that never had any answers every request with an error. Mend the file, and the rules are in force at once.'
}

interface LiveNews {
  readonly news: CounterNews | undefined
  /** Why there is nothing new. */
  readonly trouble: string | undefined
  readonly isLive: boolean
}

/** The counters, as long as the page is shown. */
function useLiveCounters(): LiveNews {
  const [news, setNews] = useState<CounterNews>()
  const [trouble, setTrouble] = useState<string>()
  const isConnected = useEventStream('/api/limits/counters', {
    counters: (latest: CounterNews) => {
      setNews(latest)
      setTrouble(undefined)
    },
    trouble: ({ message }: CounterTrouble) => setTrouble(message),
  })
  return { news, trouble, isLive: isConnected && news !== undefined && trouble === undefined }
}
