import type { JSX } from 'preact'
import type { DecisionsState } from '../../../console/routes/overview.ts'
import { Card } from '../../components/card.tsx'
import { LineChart } from '../../components/line-chart.tsx'
import { Empty, Loading, Notice } from '../../components/states.tsx'
import { formatNumber } from '../../format.ts'
import { Figure, Figures, rangeTitles } from './figures.tsx'
import type { ZoomProps } from './use-overview-address.ts'

interface DecisionsCardProps extends ZoomProps {
  readonly decisions: DecisionsState | undefined
  readonly isMissing: boolean
}

export function DecisionsCard(props: DecisionsCardProps): JSX.Element {
  const { decisions, isMissing, zoom, onZoom } = props
  return (
    <Card title="Rate limit decisions" actions={<a href="/limits">Limits</a>}>
      {isMissing ? (
        <Empty icon="limits" title="No rate limit service">
          Start the console with <code>--ratelimit-debug-url</code> to see its decisions.
        </Empty>
      ) : decisions === undefined ? (
        <Loading>Loading counters…</Loading>
      ) : (
        <div class="stack">
          <DecisionFigures decisions={decisions} />
          <LineChart
            label="Decisions per second"
            name="all"
            values={decisions.points.map((point) => point?.total ?? null)}
            second={{
              label: 'over the limit',
              values: decisions.points.map((point) => point?.over ?? null),
            }}
            capacity={decisions.points.length}
            unit="/s"
            axis="decisions per second"
            stepSeconds={decisions.stepSeconds}
            until={decisions.until}
            zoom={zoom}
            onZoom={onZoom}
          />
          {decisions.fault !== undefined && (
            <Notice tone="warn" title="Not updated.">
              {decisions.fault}
            </Notice>
          )}
        </div>
      )}
    </Card>
  )
}

function DecisionFigures({ decisions }: { readonly decisions: DecisionsState }): JSX.Element {
  const { sums, current, range } = decisions
  const { hits, over, shadow } = sums
  const passed = shadow > 0 ? `, ${formatNumber(shadow)} allowed in shadow mode` : ''
  return (
    <Figures>
      <Figure
        tone="series-1"
        name="Decisions"
        value={current}
        unit="/s"
        note={`${formatNumber(hits)} in ${rangeTitles[range]}`}
      />
      <Figure
        tone="danger"
        name="Over the limit"
        value={hits > 0 ? (over / hits) * 100 : undefined}
        unit="%"
        note={`${formatNumber(over)} of them${passed}`}
      />
    </Figures>
  )
}
