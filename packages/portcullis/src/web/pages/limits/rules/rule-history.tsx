import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { HistoryRange, HistoryState } from '../../../../console/routes/limits-keys.ts'
import { callApi } from '../../../api.ts'
import { Button } from '../../../components/button.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { LineChart } from '../../../components/line-chart.tsx'
import { Failure, Loading, Notice } from '../../../components/states.tsx'
import { Tabs } from '../../../components/tabs.tsx'
import { formatNumber } from '../../../format.ts'
import { useLoaded } from '../../../use-loaded.ts'
import { type RuleRow, toRuleLabel } from './rule-rows.ts'

const ranges: readonly { readonly name: HistoryRange; readonly title: string }[] = [
  { name: '1h', title: '1 hour' },
  { name: '24h', title: '24 hours' },
  { name: '7d', title: '7 days' },
]

/** The console reads the counters every ten seconds. */
const refreshMs = 10_000

interface RuleHistoryProps {
  readonly row: RuleRow
  readonly onClose: () => void
}

/** The hits of a rule over time. */
export function RuleHistory({ row, onClose }: RuleHistoryProps): JSX.Element {
  const [range, setRange] = useState<HistoryRange>('1h')
  const { rule, domain } = row
  return (
    <Dialog title={`History of ${toRuleLabel(rule)}`} onClose={onClose}>
      <p class="small muted">
        <span class="mono">{domain}</span>, {rule.limitText}
      </p>
      <Tabs label="Time range" tabs={ranges} shown={range} onShow={setRange}>
        <HistoryChart rule={rule.statisticsKey} range={range} />
      </Tabs>
      <footer>
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  )
}

interface HistoryChartProps {
  readonly rule: string
  readonly range: HistoryRange
}

function HistoryChart({ rule, range }: HistoryChartProps): JSX.Element {
  const history = useLoaded(
    (signal) => {
      const query = new URLSearchParams({ rule, range })
      return callApi<HistoryState>(`/api/limits/history?${query}`, { signal })
    },
    [rule, range],
  )
  const { reload } = history
  useEffect(() => {
    const timer = setInterval(reload, refreshMs)
    return () => clearInterval(timer)
  }, [reload])
  if (history.state === 'loading') return <Loading>Loading history…</Loading>
  if (history.state === 'failed') return <Failure error={history.error} onRetry={reload} />
  const { points, stepSeconds, sums, fault } = history.value
  return (
    <div class="stack">
      <p>{toSummary(sums)}</p>
      <LineChart
        label="Hits per second"
        values={points.map((point) => point?.total ?? null)}
        second={{
          label: 'over the limit',
          values: points.map((point) => point?.over ?? null),
        }}
        capacity={points.length}
        unit="/s"
        axis="hits per second"
        stepSeconds={stepSeconds}
      />
      <p class="small muted">
        The console records the hits while it runs. Gaps are times without a measurement.
      </p>
      {fault !== undefined && (
        <Notice tone="warn" title="Not updated.">
          {fault}
        </Notice>
      )}
    </div>
  )
}

function toSummary({ total, over, shadow }: HistoryState['sums']): string {
  if (total === 0) return 'No hits were recorded in this time.'
  const share = formatNumber((100 * over) / total)
  const passed = shadow > 0 ? `, ${formatNumber(shadow)} allowed in shadow mode` : ''
  return `${formatNumber(total)} hits, ${formatNumber(over)} over the limit (${share} %)${passed}.`
}
