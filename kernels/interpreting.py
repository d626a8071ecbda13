"""Triton's interpreter, without what it does over and over."""


def replace_once() -> None:
    """From now on what is the interpreter's already is left as it is.

    It replaces the functions of `triton.language` by its own for a launch, and looks through all
    of them again whenever the kernel calls another function: near half of what a launch takes,
    where nothing is left to replace. Not thread-safe, like the interpreter itself.
    """
    import triton.language as tl
    from triton.runtime import interpreter

    replace = getattr(interpreter, "_patch_lang", None)
    scope = getattr(interpreter, "_LangPatchScope", None)
    if replace is None or scope is None:  # a Triton that does it in another way
        return

    def replaced(fn):
        seen = {id(value) for value in fn.__globals__.values()}
        some = [tl.tensor.__add__, *(lang.load for lang in (tl, tl.core) if id(lang) in seen)]
        return replace(fn) if any(map(tl.core.is_builtin, some)) else scope()

    interpreter._patch_lang = replaced
