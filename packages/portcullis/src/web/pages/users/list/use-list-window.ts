import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import {
  headerHeightPx,
  type ListPlace,
  moveTo,
  type RowRange,
  rowHeightPx,
  startOfList,
  toPlaceOf,
  toRowRange,
} from './list-window.ts'

export interface ListWindow {
  /** Of the element that scrolls. */
  readonly viewport: RefObject<HTMLDivElement | null>
  readonly place: ListPlace
  readonly rows: RowRange
  /** How many rows a page up or down goes. */
  readonly pageRows: number
  readonly onScroll: () => void
  /** Brings a row into view. */
  readonly reveal: (index: number) => void
}

const usualViewportPx = 600

/** Follows the scrolling of a list, and redraws only when other rows come into view. */
export function useListWindow(total: number): ListWindow {
  const viewport = useRef<HTMLDivElement>(null)
  const [viewportPx, setViewportPx] = useState(usualViewportPx)
  const [place, setPlace] = useState(startOfList)
  // Several scroll events may come before a redraw.
  const latest = useRef(place)
  const size = { total, viewportPx }
  const rows = toRowRange(place, size)

  useLayoutEffect(() => {
    const element = viewport.current
    if (!element) return
    const observer = new ResizeObserver(() => setViewportPx(element.clientHeight - headerHeightPx))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  return {
    viewport,
    place,
    rows,
    pageRows: Math.max(1, Math.floor(viewportPx / rowHeightPx) - 1),
    onScroll() {
      const next = moveTo(latest.current, viewport.current?.scrollTop ?? 0, size)
      latest.current = next
      const { first, end } = toRowRange(next, size)
      const isDrawn = first === rows.first && end === rows.end && next.shiftPx === place.shiftPx
      if (!isDrawn) setPlace(next)
    },
    reveal(index) {
      const next = toPlaceOf(index, latest.current, size)
      latest.current = next
      setPlace(next)
      if (viewport.current) viewport.current.scrollTop = next.scrollTop
    },
  }
}
