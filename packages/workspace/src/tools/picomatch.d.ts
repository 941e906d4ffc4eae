declare module "picomatch" {
  interface Options {
    dot?: boolean;
    nonegate?: boolean;
    basename?: boolean;
  }
  export default function picomatch(pattern: string, options?: Options): (path: string) => boolean;
}
