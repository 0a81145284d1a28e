/** The nil UUID is smaller than every ID in use, so paging by ID starts after it. */
export const nilId = '00000000-0000-0000-0000-000000000000'
