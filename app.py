"""What a Hugging Face Space and `make run` start; installed, it is `flashattention-tiles`."""

from explainer.app import main

if __name__ == "__main__":
    main()
