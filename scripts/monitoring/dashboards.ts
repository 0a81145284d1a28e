import { join } from 'node:path'
import { authDashboard } from './auth-dashboard.ts'
import { toDashboard } from './dashboard.ts'
import { ratelimitDashboard } from './ratelimit-dashboard.ts'

export const folder = join(import.meta.dirname, '../../deploy/monitoring')

/** The dashboards that Grafana reads, by the name of their file. */
export const dashboards = new Map(
  [authDashboard, ratelimitDashboard].map((content) => [
    join(folder, 'dashboards', `${content.server}.json`),
    { content, text: `${JSON.stringify(toDashboard(content), undefined, 2)}\n` },
  ]),
)
