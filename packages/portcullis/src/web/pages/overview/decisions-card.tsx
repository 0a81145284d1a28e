import type { JSX } from 'preact'
import type { DecisionsSecond, DecisionsState } from '../../../console/routes/overview.ts'
import { Card } from '../../components/card.tsx'
import { LineChart } from '../../components/line-chart.tsx'
import { Empty, Loading, Notice } from '../../components/states.tsx'
import { formatNumber } from '../../format.ts'
import { Figure, Figures } from './figures.tsx'

export interface DecisionsCardProps {
  readonly decisions: DecisionsState | undefined
  readonly isMissing: boolean
}

export function DecisionsCard({ decisions, isMissing }: DecisionsCardProps): JSX.Element {
  return (
    <Card title="Rate limit decisions" actions={<a href="/limits">Limits</a>}>
      {isMissing ? (
        <Empty icon="limits" title="No rate limit service">
          Start the console with <code>--ratelimit-debug-url</code> to see what it decides.
        </Empty>
      ) : decisions === undefined ? (
        <Loading>Reading the counters…</Loading>
      ) : (
        <div class="stack">
          <DecisionFigures decisions={decisions} />
          <LineChart
            label="Decisions per second"
            values={decisions.seconds.map((second) => second?.total ?? null)}
            second={{
              label: 'over the limit',
              values: decisions.seconds.map((second) => second?.over ?? null),
            }}
            capacity={decisions.capacity}
            unit="/s"
            span="3 min ago"
            stepSeconds={1}
          />
          {decisions.fault !== undefined && (
            <Notice tone="warn" title="No new numbers.">
              {decisions.fault}
            </Notice>
          )}
        </div>
      )}
    </Card>
  )
}

const recentSeconds = 5

/** Of some seconds together: a single one jumps too much to be read. */
function toRecent(seconds: DecisionsState['seconds']): number | undefined {
  const recent = seconds.slice(-recentSeconds).filter((second) => second !== null)
  if (recent.length === 0) return undefined
  return recent.reduce((sum, { total }) => sum + total, 0) / recent.length
}

function DecisionFigures({ decisions }: { readonly decisions: DecisionsState }): JSX.Element {
  const { seconds, capacity } = decisions
  const known = seconds.filter((second) => second !== null)
  const sum = (name: keyof DecisionsSecond) =>
    Math.round(known.reduce((total, second) => total + second[name], 0))
  const total = sum('total')
  const over = sum('over')
  const shadow = sum('shadow')
  const passed = shadow > 0 ? `, ${formatNumber(shadow)} let pass in shadow mode` : ''
  return (
    <Figures>
      <Figure
        tone="series-1"
        name="Decisions"
        value={toRecent(seconds)}
        unit="/s"
        note={`${formatNumber(total)} in ${capacity / 60} min`}
      />
      <Figure
        tone="danger"
        name="Over the limit"
        value={total > 0 ? (over / total) * 100 : undefined}
        unit="%"
        note={`${formatNumber(over)} of them${passed}`}
      />
    </Figures>
  )
}
