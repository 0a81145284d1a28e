import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** The height of a row by density. All rows have the same, so that the position of each row is known. */
export const rowHeightsPx = { comfortable: 56, compact: 36 } as const

export type Density = keyof typeof rowHeightsPx

/** The header stays visible above the rows. */
export const headerHeightPx = 36

/** Browsers cannot render beyond some 17 million pixels, so longer lists are scaled down to this height. */
const tallestPx = 12_000_000

/** Rows rendered beyond the visible area, on either side. */
const spareRows = 6

interface ListSize {
  readonly total: number
  /** Excludes the header. */
  readonly viewportPx: number
  readonly rowPx: number
}

/**
 * The scroll position. `shiftPx` is the difference to the position in the unscaled list; zero except for
 * very long lists.
 */
interface ListPlace {
  readonly scrollTop: number
  readonly shiftPx: number
}

export const startOfList: ListPlace = { scrollTop: 0, shiftPx: 0 }

export interface RowRange {
  readonly first: number
  /** Exclusive. */
  readonly end: number
}

export function toContentHeight({ total, rowPx }: Pick<ListSize, 'total' | 'rowPx'>): number {
  return Math.min(total * rowPx, tallestPx)
}

/**
 * Returns the position after scrolling. In a scaled list, small steps move by the same number of pixels as in
 * any other list; only jumps with the scroll bar are proportional.
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

/** Returns the nearest position at which a row is fully visible. */
export function toPlaceOf(index: number, place: ListPlace, size: ListSize): ListPlace {
  const { squeezedEnd, realEnd } = toEnds(size)
  const top = place.scrollTop + place.shiftPx
  const rowTop = index * size.rowPx
  const least = rowTop + size.rowPx - size.viewportPx
  const real = Math.min(Math.max(Math.min(Math.max(top, least), rowTop), 0), realEnd)
  if (squeezedEnd === realEnd) return { scrollTop: real, shiftPx: 0 }
  const scrollTop = realEnd === 0 ? 0 : Math.round((real / realEnd) * squeezedEnd)
  return { scrollTop, shiftPx: real - scrollTop }
}

/** Returns the rows to render. */
export function toRowRange({ scrollTop, shiftPx }: ListPlace, size: ListSize): RowRange {
  const top = scrollTop + shiftPx
  const first = Math.floor(top / size.rowPx) - spareRows
  const end = Math.ceil((top + size.viewportPx) / size.rowPx) + spareRows
  return { first: Math.max(0, Math.min(first, size.total)), end: Math.min(size.total, end) }
}

export function toRowTop(index: number, { shiftPx }: ListPlace, rowPx: number): number {
  return index * rowPx - shiftPx
}

/** The maximum scroll positions, scaled and unscaled. */
function toEnds(size: ListSize) {
  const { total, viewportPx, rowPx } = size
  return {
    squeezedEnd: Math.max(0, toContentHeight(size) - viewportPx),
    realEnd: Math.max(0, total * rowPx - viewportPx),
  }
}

interface ListWindow {
  /** The ref of the scrolling element. */
  readonly viewport: RefObject<HTMLDivElement | null>
  readonly place: ListPlace
  readonly rows: RowRange
  /** The width of the scrolling element. */
  readonly widthPx: number
  /** The number of rows that Page Up and Page Down move. */
  readonly pageRows: number
  readonly onScroll: () => void
  /** Scrolls a row into view. */
  readonly reveal: (index: number) => void
}

const usualViewportPx = 600
const usualWidthPx = 1_000

/** Tracks the scroll position of a list, and rerenders only when other rows become visible. */
export function useListWindow(total: number, rowPx: number): ListWindow {
  const viewport = useRef<HTMLDivElement>(null)
  const [widthPx, setWidthPx] = useState(usualWidthPx)
  const [viewportPx, setViewportPx] = useState(usualViewportPx)
  const [place, setPlace] = useState(startOfList)
  // Several scroll events may occur before a rerender.
  const latest = useRef(place)
  const size = { total, viewportPx, rowPx }
  const rows = toRowRange(place, size)

  useLayoutEffect(() => {
    const element = viewport.current
    if (!element) return
    const observer = new ResizeObserver(() => {
      setViewportPx(element.clientHeight - headerHeightPx)
      setWidthPx(element.clientWidth)
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  return {
    viewport,
    place,
    rows,
    widthPx,
    pageRows: Math.max(1, Math.floor(viewportPx / rowPx) - 1),
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
