import type { JSX, TargetedKeyboardEvent, TargetedPointerEvent } from 'preact'
import { useState } from 'preact/hooks'
import { useShortcut } from '../../shortcuts.ts'
import type { TimeSpan } from './chart-data.ts'

interface ChartCursorProps {
  readonly label: string
  /** The values at the crosshair, for screen readers. */
  readonly reading: string
  /** The visible points, `end` exclusive, and the one with the crosshair. */
  readonly first: number
  readonly end: number
  readonly pointed: number | undefined
  readonly place: {
    readonly left: number
    readonly top: number
    readonly width: number
    readonly height: number
  }
  readonly toTimeAt: (x: number) => number
  readonly onPoint: (index: number | undefined) => void
  readonly onPointTime: (time: number) => void
  /** Undefined if the chart cannot be zoomed. */
  readonly onZoomTo: ((part: TimeSpan) => void) | undefined
  readonly onZoomBy: ((factor: number) => void) | undefined
  readonly onReset: (() => void) | undefined
}

/** A shorter drag is a click. */
const leastDragPx = 6

const moves: Readonly<Record<string, (index: number, first: number, last: number) => number>> = {
  ArrowLeft: (index) => index - 1,
  ArrowRight: (index) => index + 1,
  PageDown: (index) => index - 10,
  PageUp: (index) => index + 10,
  Home: (_index, first) => first,
  End: (_index, _first, last) => last,
}

/**
 * Covers the lines of a chart, and moves its crosshair. A slider is the pattern that screen readers know for a
 * position on an axis: they read the values after each step.
 */
export function ChartCursor(props: ChartCursorProps): JSX.Element {
  const { label, reading, first, end, pointed, place, toTimeAt } = props
  const { onPoint, onPointTime, onZoomTo, onZoomBy, onReset } = props
  const [drag, setDrag] = useState<{ readonly start: number; readonly now: number }>()
  const last = end - 1
  useShortcut({ keys: 'ArrowLeft ArrowRight', label: 'Move the crosshair of the focused chart' })
  useShortcut(onZoomBy && { keys: '+ - 0', label: 'Zoom in, zoom out and reset the focused chart' })

  const toX = ({ currentTarget, clientX }: TargetedPointerEvent<HTMLDivElement>) =>
    Math.min(place.width, Math.max(0, clientX - currentTarget.getBoundingClientRect().left))
  const down = (event: TargetedPointerEvent<HTMLDivElement>) => {
    onPointTime(toTimeAt(toX(event)))
    // A finger moves the crosshair; there are buttons to zoom.
    if (event.pointerType === 'touch' || event.button !== 0 || !onZoomTo) return
    event.currentTarget.setPointerCapture(event.pointerId)
    setDrag({ start: toX(event), now: toX(event) })
  }
  const move = (event: TargetedPointerEvent<HTMLDivElement>) => {
    if (drag) setDrag({ ...drag, now: toX(event) })
    onPointTime(toTimeAt(toX(event)))
  }
  const up = () => {
    setDrag(undefined)
    if (!drag || Math.abs(drag.now - drag.start) < leastDragPx) return
    const [from = 0, to = 0] = [drag.start, drag.now].sort((a, b) => a - b).map(toTimeAt)
    onZoomTo?.({ from, to })
  }
  const press = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const step = moves[event.key]
    if (step && end > first) {
      // Without a crosshair, the keys begin behind the newest point.
      const next = step(pointed ?? end, first, last)
      onPoint(Math.min(last, Math.max(first, next)))
    } else if ((event.key === '+' || event.key === '=') && onZoomBy) onZoomBy(0.5)
    else if (event.key === '-' && onZoomBy) onZoomBy(2)
    else if (event.key === '0' && onReset) onReset()
    else if (event.key === 'Escape' && drag) setDrag(undefined)
    else return
    event.preventDefault()
  }
  return (
    <div
      class="chart-cursor"
      style={{
        left: `${place.left}px`,
        top: `${place.top}px`,
        width: `${place.width}px`,
        height: `${place.height}px`,
      }}
      role="slider"
      tabIndex={0}
      aria-label={`${label}: time`}
      aria-valuemin={first}
      aria-valuemax={Math.max(first, last)}
      aria-valuenow={pointed ?? Math.max(first, last)}
      aria-valuetext={reading}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={() => setDrag(undefined)}
      onPointerLeave={(event) => event.pointerType !== 'touch' && !drag && onPoint(undefined)}
      onBlur={() => onPoint(undefined)}
      onKeyDown={press}
    >
      {drag && (
        <div
          class="chart-drag"
          style={{
            left: `${Math.min(drag.start, drag.now)}px`,
            width: `${Math.abs(drag.now - drag.start)}px`,
          }}
        />
      )}
    </div>
  )
}
