import type { RangeName } from '../../../console/routes/overview.ts'
import type { TimeSpan } from '../../components/line-chart.tsx'
import { usePageLocation } from '../../use-page-location.ts'
import { rangeTitles } from './figures.tsx'

export interface ZoomProps {
  /** Shared by the charts, so that they show the same time. Default: the whole range. */
  readonly zoom: TimeSpan | undefined
  readonly onZoom: (zoom: TimeSpan | undefined) => void
}

/** The state in the page's URL. */
interface OverviewAddress extends ZoomProps {
  /** Without one in the URL, the range that was chosen last. */
  readonly range: RangeName
  readonly onRange: (range: RangeName) => void
}

const names = Object.keys(rangeTitles) as readonly RangeName[]
const storageKey = 'portcullis-range'

export function useOverviewAddress(): OverviewAddress {
  const { query, route } = usePageLocation()
  const range = findRange(query['range']) ?? findRange(localStorage.getItem(storageKey)) ?? '15m'
  return {
    range,
    zoom: parseZoom(query['from'], query['to']),
    onRange(next) {
      localStorage.setItem(storageKey, next)
      route(`/?range=${next}`)
    },
    // Replaces the history entry, so that Back leads to the previous page, not the previous zoom.
    onZoom: (zoom) => route(toHref(range, zoom), true),
  }
}

function findRange(text: string | null | undefined): RangeName | undefined {
  return names.find((name) => name === text)
}

/** Ignores times that are not valid. */
function parseZoom(fromText = '', toText = ''): TimeSpan | undefined {
  const [from, to] = [Date.parse(fromText), Date.parse(toText)]
  return from < to ? { from, to } : undefined
}

/** Such as `/?range=1h&from=2026-11-15T16:40:00Z&to=2026-11-15T16:45:00Z`. */
function toHref(range: RangeName, zoom: TimeSpan | undefined): string {
  const toText = (time: number) => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')
  const part = zoom ? `&from=${toText(zoom.from)}&to=${toText(zoom.to)}` : ''
  return `/?range=${range}${part}`
}
