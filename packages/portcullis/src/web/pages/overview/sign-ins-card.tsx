import type { JSX } from 'preact'
import type { ActivityState } from '../../../console/routes/overview.ts'
import { Card } from '../../components/card.tsx'
import { LineChart } from '../../components/line-chart.tsx'
import { Empty, Loading, Notice } from '../../components/states.tsx'
import { Figure, Figures } from './figures.tsx'
import type { ZoomProps } from './use-overview-address.ts'

export interface ActivityCardProps {
  readonly activity: ActivityState | undefined
  readonly isMissing: boolean
}

interface SignInsCardProps extends ActivityCardProps, ZoomProps {
  /** The number of users, if known. */
  readonly users: number | undefined
}

export function SignInsCard(props: SignInsCardProps): JSX.Element {
  const { activity, users, isMissing, zoom, onZoom } = props
  return (
    <Card
      title="Sign-ins"
      actions={
        <div class="row">
          {activity?.hasFailures && <a href="/users?view=failures">Failed sign-ins</a>}
          <a href="/users">Users</a>
        </div>
      }
    >
      {isMissing ? (
        <Empty icon="users" title="No auth server">
          Start the console with <code>--auth-url</code> and <code>--auth-key</code> to see
          sign-ins.
        </Empty>
      ) : activity === undefined ? (
        <Loading>Loading the audit log…</Loading>
      ) : (
        <div class="stack">
          <Figures>
            <Figure
              tone="series-2"
              name="Sign-ins"
              value={activity.fault === undefined ? activity.current?.succeeded : undefined}
              unit="/min"
              note="in the last minute"
            />
            {activity.hasFailures && (
              <Figure
                tone="danger"
                name="Failed"
                value={activity.fault === undefined ? activity.current?.failed : undefined}
                unit="/min"
                note="in the last minute"
              />
            )}
            <Figure name="Users" value={users} note="in total" />
          </Figures>
          <LineChart
            label="Sign-ins per minute"
            name="succeeded"
            values={activity.succeeded}
            second={activity.hasFailures ? { label: 'failed', values: activity.failed } : undefined}
            capacity={activity.succeeded.length}
            unit="/min"
            axis="sign-ins per minute"
            stepSeconds={activity.stepSeconds}
            coveredSeconds={activity.coveredSeconds}
            until={activity.until}
            zoom={zoom}
            onZoom={onZoom}
            series={2}
          />
          {activity.fault !== undefined && (
            <Notice tone="warn" title="Not updated.">
              {activity.fault}
            </Notice>
          )}
          {activity.isPartial && (
            <Notice>Showing a sample: too many events to count them all.</Notice>
          )}
        </div>
      )}
    </Card>
  )
}
