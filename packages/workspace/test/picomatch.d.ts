/** As much of it as the tests use. */
declare module "picomatch" {
  export default function picomatch(pattern: string, options?: { dot?: boolean }): (path: string) => boolean;
}
