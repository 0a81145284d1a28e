import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type {
  ActivityState,
  DecisionsState,
  HealthState,
} from '../../../console/routes/overview.ts'
import { Badge } from '../../components/badge.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Failure } from '../../components/states.tsx'
import { useSession } from '../../session.ts'
import { lostConnection, useEventStream } from '../../use-event-stream.ts'
import { DecisionsCard } from './decisions-card.tsx'
import { EventsCard } from './events-card.tsx'
import { RangeChoice } from './figures.tsx'
import { NextSteps } from './next-steps.tsx'
import { PartCards } from './part-cards.tsx'
import { SignInsCard } from './sign-ins-card.tsx'
import { useOverviewAddress } from './use-overview-address.ts'

/** Shows the current state of all parts. */
export function Page(): JSX.Element {
  const { parts } = useSession()
  const [health, setHealth] = useState<HealthState>()
  const [decisions, setDecisions] = useState<DecisionsState>()
  const [activity, setActivity] = useState<ActivityState>()
  const { range, onRange, zoom, onZoom } = useOverviewAddress()
  const zoomed = { zoom, onZoom }
  const stream = useEventStream(`/api/overview/stream?range=${range}`, {
    health: setHealth,
    decisions: setDecisions,
    activity: setActivity,
  })
  const isConnected = stream === 'open'
  const hasData = (health ?? decisions ?? activity) !== undefined
  const users = health?.find(({ part }) => part === 'auth')?.users
  return (
    <>
      <PageHeader title="Overview" summary="Health, rate limit decisions and sign-ins, live.">
        <RangeChoice range={range} onChoose={onRange} />
        <Liveness isConnected={isConnected} hasData={health !== undefined} />
      </PageHeader>
      {stream === 'lost' && !hasData ? (
        <Failure error={new Error(lostConnection)} />
      ) : (
        <div class={isConnected || health === undefined ? 'stack' : 'stack overview-stale'}>
          <NextSteps users={users} />
          <PartCards health={health} decisions={decisions} />
          <div class="grid overview-charts">
            <DecisionsCard
              decisions={decisions}
              isMissing={parts.ratelimit === undefined}
              {...zoomed}
            />
            <SignInsCard
              activity={activity}
              users={users}
              isMissing={parts.auth === undefined}
              {...zoomed}
            />
          </div>
          <EventsCard activity={activity} isMissing={parts.auth === undefined} />
        </div>
      )}
    </>
  )
}

interface LivenessProps {
  readonly isConnected: boolean
  readonly hasData: boolean
}

function Liveness({ isConnected, hasData }: LivenessProps): JSX.Element {
  const state = isConnected ? 'Live' : hasData ? 'Connection lost, reconnecting…' : 'Connecting…'
  return (
    <span role="status">
      <Badge tone={isConnected ? 'ok' : hasData ? 'danger' : undefined} hasDot>
        {state}
      </Badge>
    </span>
  )
}
