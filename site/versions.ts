/** A version whose pages are still online. */
export interface OnlineVersion {
  readonly version: string
  /** The full address, because these pages are built separately: `https://docs.example.com/0.1/`. */
  readonly url: string
}

/** Versions before this one, newest first. The menu in the header of the site lists them. */
export const earlierVersions: readonly OnlineVersion[] = []
