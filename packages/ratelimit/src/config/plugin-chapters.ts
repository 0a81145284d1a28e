import type { Chapters } from '@portcullis/service-kit/settings/env'

/** Merges the variables of all plug-ins into one table. Plug-ins may share a chapter. */
export function mergeChapters<Plugin extends { readonly chapters: Chapters }>(
  plugins: readonly Plugin[],
): Merged<Plugin['chapters']> {
  return Object.assign({}, ...plugins.map(({ chapters }) => chapters))
}

type Merged<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never
