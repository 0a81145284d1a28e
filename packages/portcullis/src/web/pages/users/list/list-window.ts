import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Every row has it, so that a row's place is known without drawing those before it. */
export const rowHeightPx = 56

/** Stays in view above the rows. */
export const headerHeightPx = 36

/** Browsers draw nothing beyond some 17 million pixels; a longer list is squeezed into this height. */
const tallestPx = 12_000_000

/** Rows drawn beyond what is visible, on either side. */
const spareRows = 6

interface ListSize {
  readonly total: number
  /** Without the header. */
  readonly viewportPx: number
}

/**
 * Where the list is scrolled to. `shiftPx` is how much further down that is in the list as it would be
 * unsqueezed: zero for all but very long lists.
 */
interface ListPlace {
  readonly scrollTop: number
  readonly shiftPx: number
}

export const startOfList: ListPlace = { scrollTop: 0, shiftPx: 0 }

export interface RowRange {
  readonly first: number
  /** Not among them any more. */
  readonly end: number
}

export function toContentHeight(total: number): number {
  return Math.min(total * rowHeightPx, tallestPx)
}

/**
 * What scrolling does. In a squeezed list small steps move as many pixels as anywhere, and only leaps, by
 * the scroll bar, go by proportion.
 */
export function moveTo(place: ListPlace, scrollTop: number, size: ListSize): ListPlace {
  const { squeezedEnd, realEnd } = toEnds(size)
  if (squeezedEnd === realEnd) return { scrollTop, shiftPx: 0 }
  if (scrollTop <= 0) return { scrollTop, shiftPx: -scrollTop }
  if (scrollTop >= squeezedEnd - 1) return { scrollTop, shiftPx: realEnd - scrollTop }
  const isLeap = Math.abs(scrollTop - place.scrollTop) > size.viewportPx * 2
  const real = isLeap ? (scrollTop / squeezedEnd) * realEnd : scrollTop + place.shiftPx
  return { scrollTop, shiftPx: Math.min(Math.max(real, 0), realEnd) - scrollTop }
}

/** The place where a row is wholly visible, moved as little as possible. */
export function toPlaceOf(index: number, place: ListPlace, size: ListSize): ListPlace {
  const { squeezedEnd, realEnd } = toEnds(size)
  const top = place.scrollTop + place.shiftPx
  const rowTop = index * rowHeightPx
  const least = rowTop + rowHeightPx - size.viewportPx
  const real = Math.min(Math.max(Math.min(Math.max(top, least), rowTop), 0), realEnd)
  if (squeezedEnd === realEnd) return { scrollTop: real, shiftPx: 0 }
  const scrollTop = realEnd === 0 ? 0 : Math.round((real / realEnd) * squeezedEnd)
  return { scrollTop, shiftPx: real - scrollTop }
}

/** The rows to draw. */
export function toRowRange({ scrollTop, shiftPx }: ListPlace, size: ListSize): RowRange {
  const top = scrollTop + shiftPx
  const first = Math.floor(top / rowHeightPx) - spareRows
  const end = Math.ceil((top + size.viewportPx) / rowHeightPx) + spareRows
  return { first: Math.max(0, Math.min(first, size.total)), end: Math.min(size.total, end) }
}

export function toRowTop(index: number, { shiftPx }: ListPlace): number {
  return index * rowHeightPx - shiftPx
}

/** The furthest that one can scroll: squeezed, and in the list as it would be. */
function toEnds({ total, viewportPx }: ListSize) {
  return {
    squeezedEnd: Math.max(0, toContentHeight(total) - viewportPx),
    realEnd: Math.max(0, total * rowHeightPx - viewportPx),
  }
}

interface ListWindow {
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
