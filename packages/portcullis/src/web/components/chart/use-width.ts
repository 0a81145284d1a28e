import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Observes the width of an element. @returns the ref for the element, and its width. */
export function useWidth<Part extends Element>(
  atFirst: number,
): readonly [RefObject<Part | null>, number] {
  const element = useRef<Part>(null)
  const [width, setWidth] = useState(atFirst)
  useEffect(() => {
    if (element.current === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry && entry.contentRect.width > 0) setWidth(Math.round(entry.contentRect.width))
    })
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return [element, width]
}
