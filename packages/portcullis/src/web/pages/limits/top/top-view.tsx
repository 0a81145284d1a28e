import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type {
  TopFailure,
  TopKey,
  TopKeys,
  TopUpdate,
} from '../../../../console/routes/limits-keys.ts'
import { Card } from '../../../components/card.tsx'
import { LiveBadge } from '../../../components/live-badge.tsx'
import { Empty, Failure, Loading, Notice } from '../../../components/states.tsx'
import { Tabs } from '../../../components/tabs.tsx'
import { formatNumber } from '../../../format.ts'
import { lostConnection, useEventStream } from '../../../use-event-stream.ts'
import { CounterPanel } from '../counter/counter-panel.tsx'
import { TopTable } from './top-table.tsx'

const tabs = [
  { name: 'limited', title: 'Hits over the limit' },
  { name: 'calls', title: 'All hits' },
] as const

type Order = (typeof tabs)[number]['name']

/** The keys with the most hits of the last minutes, in total or over their limit, and the counter of one of them. */
export function TopView(): JSX.Element {
  const [order, setOrder] = useState<Order>('limited')
  const [picked, setPicked] = useState<TopKey>()
  const { update, failure, isLive } = useTopKeys()
  return (
    <div class="limits-rules">
      <Card title="Top keys" actions={<LiveBadge isLive={isLive} />}>
        {update === undefined && failure !== undefined && <Failure error={new Error(failure)} />}
        {update === undefined && failure === undefined && <Loading>Loading keys…</Loading>}
        {update !== undefined && (
          <Tabs label="Order" tabs={tabs} shown={order} onShow={setOrder}>
            {failure !== undefined && (
              <Notice tone="warn" title="Not updated.">
                {failure}
              </Notice>
            )}
            <TopList top={update[order]} picked={picked} onPick={setPicked} />
          </Tabs>
        )}
      </Card>
      <CounterPanel target={picked} />
    </div>
  )
}

interface TopListProps {
  readonly top: TopKeys
  readonly picked: TopKey | undefined
  readonly onPick: (key: TopKey) => void
}

function TopList({ top, picked, onPick }: TopListProps): JSX.Element {
  if (top.keys.length === 0) {
    return (
      <Empty icon="limits" title={top.by === 'limited' ? 'No hits over a limit' : 'No hits'}>
        {`No request ${top.by === 'limited' ? 'was over a limit' : 'was counted'} in the last ${toMinutes(top.seconds)}. Keys appear here within a second.`}
      </Empty>
    )
  }
  return (
    <>
      <TopTable keys={top.keys} picked={picked} onPick={onPick} />
      <p class="small muted limits-top-note">{toNote(top)}</p>
    </>
  )
}

/** Says which of the numbers are exact. */
function toNote({ seconds, isEstimate, floor }: TopKeys): string {
  const time = `Hits of the last ${toMinutes(seconds)}.`
  const others =
    floor === 0 ? '' : ` Keys that are not listed have at most ${formatNumber(floor)} hits.`
  if (isEstimate) {
    return `${time} The load is high, so the service counted only a sample of the requests. The numbers are estimates.${others}`
  }
  return floor === 0
    ? `${time} The numbers are exact.`
    : `${time} There are more keys than the service can list, so the numbers are lower bounds.${others}`
}

function toMinutes(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}

/** Receives the lists while the page is shown. */
function useTopKeys() {
  const [update, setUpdate] = useState<TopUpdate>()
  const [failure, setFailure] = useState<string>()
  const stream = useEventStream('/api/limits/top', {
    top: (latest: TopUpdate) => {
      setUpdate(latest)
      setFailure(undefined)
    },
    failure: ({ message }: TopFailure) => setFailure(message),
  })
  const isLive = stream === 'open' && update !== undefined && failure === undefined
  return { update, failure: failure ?? (stream === 'lost' ? lostConnection : undefined), isLive }
}
